import * as z from "zod";
import {
  errors,
  formatRevision,
  formatStackKey,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { Operation } from "./operation.ts";
import { stackAction } from "./stack_action.ts";
import { stackInput, type StackParts, unknownStack } from "./stack_parts.ts";

/** The answer to forgetting a stack. */
const forgetView = z.strictObject({
  forgotten: z.literal(true).describe("Nothing of it is looked after any more."),
});

/** Parts for forgetting stacks. */
export interface ForgetParts extends Pick<StackParts, "ledger"> {
  /** Whether a context exists, even if it cannot be used now. */
  readonly hasContext: (context: string) => Promise<boolean>;
  readonly clock: Clock;
}

/**
 * Forgets a stack whose context does not exist any more, so that no engine can be asked to remove
 * it. Leaves what runs there, and the stack's files on disk, alone; the history stays.
 *
 * A call throws `conflict` while the context exists or the stack is being changed, and `not_found`
 * when nothing is recorded about the stack.
 */
export function forgetOperation(
  { ledger, hasContext, clock }: ForgetParts,
): Operation<z.output<typeof forgetView>> {
  return stackAction({
    action: "forget",
    id: "forgetDeployment",
    summary: "Forget a stack whose context is not there any more; what runs there is left alone.",
    input: stackInput,
    output: forgetView,
    errors: ["bad_request", "not_found", "conflict"],
  }, async (key) => {
    const isThere = await hasContext(key.context);
    requireForgettable(ledger, key, isThere);
    return recordForgotten(ledger, key, clock.now());
  });
}

function recordForgotten(ledger: ForgetParts["ledger"], key: StackKey, at: Date) {
  const current = ledger.current(key);
  const message = `a person forgot it: there is no context ${key.context} any more; what runs ` +
    "there was left alone";
  ledger.destroyed(ledger.beginDestroy(key, {}), message);
  ledger.decisions.add(key, {
    trigger: "project",
    origin: "manual",
    revision: current === undefined ? "" : formatRevision(current.revision),
    kind: "destroy",
    message,
    changes: [],
    services: [],
    outcome: { status: "succeeded", message: "forgotten" },
  }, at);
  return { forgotten: true as const };
}

function stillThere({ context, name }: StackKey): StackwrightError {
  return errors.conflict(
    `the context ${context} is there, so ${name} can be removed from it: with destroy: ` +
      "true, or over the API. Nothing was changed",
  );
}

function requireForgettable(ledger: ForgetParts["ledger"], key: StackKey, isThere: boolean): void {
  const isIt = (each: { readonly key: StackKey }) =>
    formatStackKey(each.key) === formatStackKey(key);
  const isLeftOpen = ledger.openIntents().some(isIt);
  const isKnown = isLeftOpen || ledger.current(key) !== undefined ||
    ledger.decisions.of(key, 1).length > 0;
  if (!isKnown) throw unknownStack(key);
  if (isThere) throw stillThere(key);
  if (isLeftOpen || !ledger.underWay().some(isIt)) return;
  throw errors.conflict(
    `something is being done to ${key.name} at this moment; try again when it has ended`,
  );
}
