import * as z from "zod";
import {
  STACK_ACTIONS,
  type StackActionResult,
  type StackControl,
  type Stacks,
  type StackService,
} from "../deploy/mod.ts";
import { MOST_CONTAINERS, requestError, type StackKey, stackKey } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { audited } from "./audit.ts";
import { contextInput } from "./context.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { timeoutInput } from "./projects.ts";
import {
  type StackActionView,
  stackActionView,
  type StackServiceView,
  stackServiceView,
  viewResult,
  viewService,
} from "./stack_view.ts";

/** Parts of the operations on stacks. */
export interface StackOperationParts {
  readonly stacks: (context: string) => Promise<Stacks>;
  readonly clock: Clock;
  /** The form of a digest in a label that readers of a stack see. */
  readonly shownDigest: (key: StackKey, digest: string) => string;
}

const ENGINE_ERRORS = ["engine_refused", "engine_unreachable"] as const;

const named = z.strictObject({
  stack_name: z.string().min(1).describe("Name of the stack."),
  context: contextInput,
});

/** Lists the stacks of a swarm with their services, also those that Stackwright did not deploy. */
export function listStacksOperation(
  { stacks, shownDigest }: StackOperationParts,
): Operation<Record<string, StackServiceView[]>> {
  return defineOperation({
    id: "listStacks",
    summary: "List the stacks of a swarm and their services.",
    tag: "Stacks",
    power: "read",
    input: z.strictObject({ context: contextInput }),
    output: z.record(z.string(), z.array(stackServiceView)),
    errors: ["bad_request", "conflict", ...ENGINE_ERRORS],
  }, async ({ context }, { signal }) => {
    const { context: where } = stackKey(context, "");
    const found = await (await stacks(where)).list(signal);
    const shown = [...found].map(([name, own]) =>
      [name, viewServices(own, stackKey(where, name), shownDigest)] as const
    );
    return Object.fromEntries(shown);
  });
}

/** Shows the services of one stack. A call throws `not_found`. */
export function getStackOperation(
  { stacks, shownDigest }: StackOperationParts,
): Operation<StackServiceView[]> {
  return defineOperation({
    id: "getStack",
    summary: "The services of one stack of a swarm.",
    tag: "Stacks",
    power: "read",
    input: named,
    output: z.array(stackServiceView),
    errors: ["bad_request", "not_found", "conflict", ...ENGINE_ERRORS],
  }, async ({ stack_name: name, context }, { signal }) => {
    const key = stackKey(context, name);
    return viewServices(await (await stacks(key.context)).describe(key, signal), key, shownDigest);
  });
}

function viewServices(
  services: readonly StackService[],
  key: StackKey,
  shownDigest: StackOperationParts["shownDigest"],
): StackServiceView[] {
  return services.map((each) => viewService(each, (digest) => shownDigest(key, digest)));
}

const controlInput = named.extend({
  action: z.enum(STACK_ACTIONS),
  service: z.string().min(1).optional().describe(
    "Name in the compose file; all services that the action is for without one.",
  ),
  replicas: z.int().min(0).max(MOST_CONTAINERS).optional().describe("For `scale`: how many."),
  wait: z.boolean().default(true).describe(
    "Whether a scale is waited for until as many tasks run.",
  ),
  timeout: timeoutInput,
});

type ControlInput = z.output<typeof controlInput>;

/**
 * Scales, restarts or runs services of a stack under its lock: the named one, or all that the
 * action applies to. A call throws `not_found`, and `conflict` for a service it does not apply to.
 */
export function controlStackOperation(parts: StackOperationParts): Operation<StackActionView> {
  return defineOperation({
    id: "controlStack",
    summary: "Scale or restart services of a stack, or run its jobs, until something deploys it.",
    tag: "Stacks",
    power: "act",
    input: controlInput,
    output: stackActionView,
    errors: [
      ...["bad_request", "not_found", "conflict", "unhealthy", "timeout"] as const,
      ...["engine_refused", "shutting_down"] as const,
    ],
  }, async (asked, call) => {
    const { action, service, replicas } = asked;
    const key = stackKey(asked.context, asked.stack_name);
    const control = controlOf(asked, parts.clock);
    const audit = { action, what: "stack", key, more: { service, replicas } } as const;
    const work = async () => (await parts.stacks(key.context)).control(key, control, call.signal);
    const results = await audited(call, audit, work);
    return { message: textOf(asked, results), results: results.map(viewResult) };
  });
}

function controlOf(
  { action, replicas, service, wait, timeout }: ControlInput,
  clock: Clock,
): StackControl {
  const order = action === "scale"
    ? { action, replicas: replicas ?? missingReplicas() }
    : action === "run"
    ? { action, at: clock.now() }
    : { action };
  return { order, wait, timeoutSeconds: timeout, ...(service === undefined ? {} : { service }) };
}

/** Removes a stack under its lock. A call throws `not_found`. */
export function removeStackOperation({ stacks }: StackOperationParts): Operation<string> {
  return defineOperation({
    id: "removeStack",
    summary: "Remove a stack from a swarm with its configs, secrets and networks; volumes stay.",
    tag: "Stacks",
    power: "act",
    input: named.extend({ timeout: timeoutInput }),
    output: z.string(),
    errors: ["bad_request", "not_found", "conflict", "timeout", "shutting_down", ...ENGINE_ERRORS],
  }, async ({ stack_name: name, context, timeout }, call) => {
    const key = stackKey(context, name);
    await audited(
      call,
      { action: "remove", what: "stack", key },
      async () => (await stacks(key.context)).remove(key, { timeoutSeconds: timeout }, call.signal),
    );
    return `stack removed: ${name}`;
  });
}

function missingReplicas(): never {
  const message = "'replicas' parameter is required and must be a non-negative integer";
  throw requestError("missing or invalid replicas parameter", message);
}

function textOf(
  { stack_name: name, action, service, replicas }: ControlInput,
  results: readonly StackActionResult[],
): string {
  const done = results.filter(({ skipped }) => skipped === undefined).length;
  const full = `${name}_${service}`;
  switch (action) {
    case "scale": {
      const what = service === undefined ? `stack scaled: ${name}` : `service scaled: ${service}`;
      return `${what} to ${replicas} replicas`;
    }
    case "restart":
      return service === undefined ? `stack restarted: ${name}` : `service restarted: ${full}`;
    case "run":
      return service === undefined
        ? `${done} job(s) retriggered in stack: ${name}`
        : `job retriggered: ${full}`;
  }
}
