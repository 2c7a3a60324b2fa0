import * as z from "zod";
import {
  errors,
  formatStackKey,
  type SourceRequest,
  type StackKey,
  stackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { PlannedStack, PlannedStacks } from "../pipeline/mod.ts";
import { createLimiter } from "../system/mod.ts";
import { type Call, defineOperation, type Operation } from "./operation.ts";
import { serviceView, viewServices } from "./run_view.ts";
import {
  BY_HAND,
  type RunResult,
  runResult,
  runWork,
  type RunWorkParts,
  waitInput,
} from "./run_work.ts";
import { sourceOfStack } from "./source_of_stack.ts";
import { stackAction } from "./stack_action.ts";
import { requireKnown, stackInput, type StackParts } from "./stack_parts.ts";
import { plannedDiff } from "./unified_diff.ts";

/** Ports for planning and deploying one stack from its source. */
export interface SyncStackParts extends RunWorkParts, Pick<StackParts, "ledger"> {
  readonly polls: readonly SourceRequest[];
  /** Plans a source without changing anything. */
  readonly plan: (request: SourceRequest, signal: AbortSignal) => Promise<PlannedStacks>;
}

/**
 * Most plans made at once; others wait. Each copies the ledger and runs git and compose, and
 * clients with read access may ask for as many as there are connections.
 */
const MOST_PLANS = 2;

const planView = z.strictObject({
  plan_id: z.string().describe("The same while what is wanted and what runs are the same."),
  kind: z.enum(["skip", "deploy", "destroy"]),
  reason: z.string().optional().describe("Why nothing would be done."),
  message: z.string(),
  services: z.array(serviceView),
  diff: z.string().describe(
    "A unified diff of the masked models as their author would write them; empty when they are equal.",
  ),
});

/**
 * Shows what a deployment of a stack would change, and changes nothing. A call throws `not_found`
 * when the stack's source is not known, and what prevented the plan.
 */
export function planStackOperation(parts: SyncStackParts): Operation<z.output<typeof planView>> {
  const limiter = createLimiter(MOST_PLANS);
  return defineOperation({
    id: "planDeployment",
    summary: "Show what a deployment of a stack would change, and change nothing.",
    tag: "Deployments",
    power: "read",
    input: stackInput,
    output: planView,
    errors: ["bad_request", "not_found", "conflict"],
  }, async ({ context, name }, call) => {
    const make = () => planOf(parts, stackKey(context, name), call);
    const found = await limiter.run(make, call.signal);
    const { id, plan: { services, ...plan } } = found;
    return {
      plan_id: id,
      ...plan,
      services: viewServices(services),
      diff: plannedDiff(found),
    };
  });
}

const applyInput = stackInput.extend({
  plan_id: z.string().optional().describe("Only if this is still what would be done."),
  wait: waitInput,
});

/** Deploys what a stack's source says now, in a run. Throws `conflict` when the given plan is outdated. */
export function applyStackOperation(parts: SyncStackParts): Operation<RunResult> {
  return stackAction({
    action: "apply",
    id: "applyDeployment",
    summary: "Deploy what the source of a stack says about it now.",
    input: applyInput,
    output: runResult,
    errors: ["bad_request", "not_found", "conflict", "shutting_down"],
  }, async (key, { name, plan_id: agreed, wait }, call) => {
    if (agreed !== undefined && (await planOf(parts, key, call)).id !== agreed) {
      throw outdated(`the plan of ${name}`);
    }
    return await syncStack(parts, { key, wait, asked: "apply" }, call);
  });
}

/** Retries the failed release of a stack. A call throws `conflict` when nothing failed. */
export function retryStackOperation(parts: SyncStackParts): Operation<RunResult> {
  return stackAction({
    action: "retry",
    id: "retryDeployment",
    summary: "Try a failed release of a stack again now.",
    input: stackInput.extend({ wait: waitInput }),
    output: runResult,
    errors: ["bad_request", "not_found", "conflict", "shutting_down"],
  }, (key, { wait }, call) => {
    requireFailed(parts, key);
    return syncStack(parts, { key, wait, asked: "retry" }, call);
  });
}

/** The error for a plan that is out of date. */
export function outdated(plan: string): StackwrightError {
  return errors.conflict(
    `${plan} is out of date: what is wanted or what runs has changed since it was made. Nothing was ` +
      "changed; make a new plan",
  );
}

function requireFailed({ ledger }: Pick<StackParts, "ledger">, key: StackKey): void {
  requireKnown({ ledger }, key);
  if (ledger.failures.get(key) !== undefined) return;
  if (ledger.decisions.of(key, 1)[0]?.kind === "error") return;
  throw errors.conflict(
    `nothing of ${key.name} has failed since it was last deployed, removed or forgotten: there is ` +
      "nothing to try again",
  );
}

async function planOf(
  { ledger, polls, plan }: SyncStackParts,
  key: StackKey,
  { signal }: Call,
): Promise<PlannedStack> {
  const { stacks, failures } = await plan(sourceOfStack(ledger, polls, key), signal);
  const isMeant = (each: StackKey) => formatStackKey(each) === formatStackKey(key);
  const failure = failures.find(isMeant);
  if (failure !== undefined) throw failure.error;
  const found = stacks.find(isMeant);
  if (found !== undefined) return found;
  throw errors.not_found(`its source does not name ${key.name} any more`);
}

async function syncStack(
  { ledger, polls, ...parts }: SyncStackParts,
  { key, wait, asked }: {
    readonly key: StackKey;
    readonly wait: boolean;
    readonly asked: "apply" | "retry";
  },
  call: Call,
): Promise<RunResult> {
  const sources = [sourceOfStack(ledger, polls, key)];
  const work = { kind: "sync", ...BY_HAND, asked, sources, only: key } as const;
  const started = { work, wait, started: "deployment started", failed: "deployment failed" };
  return await runWork(started, parts, call);
}
