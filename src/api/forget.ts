import * as z from "zod";
import {
  errors,
  formatRevision,
  requireNotHeld,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { deployedBy } from "../record/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { Operation } from "./operation.ts";
import { stackAction } from "./stack_action.ts";
import { stackInput, type StackParts, unknownStack } from "./stack_parts.ts";

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
 * Forgets a stack of which there is nothing to remove: its context does not exist any more, so that
 * no engine can be asked, none of its releases ever became its current one, so that only failures are
 * recorded, or another context of its engine is to take it over, or has it. Leaves what is on the
 * engine, and the stack's files on disk, alone; the history stays.
 *
 * A call throws `conflict` while a release is deployed on a context that exists, a person holds the stack, or
 * it is being changed, and `not_found` when nothing is recorded about the stack.
 */
export function forgetOperation(
  { ledger, hasContext, clock }: ForgetParts,
): Operation<z.output<typeof forgetView>> {
  return stackAction({
    action: "forget",
    id: "forgetDeployment",
    summary:
      "Forget a stack that was never deployed, whose context is not there any more, or that another " +
      "context of its engine is to take over; what is on the engine is left alone.",
    input: stackInput,
    output: forgetView,
    errors: ["bad_request", "not_found", "conflict"],
  }, async (key) => {
    const isThere = await hasContext(key.context);
    requireForgettable(ledger, key, isThere);
    return recordForgotten(ledger, key, isThere, clock.now());
  });
}

function recordForgotten(ledger: ForgetParts["ledger"], key: StackKey, isThere: boolean, at: Date) {
  const current = ledger.current(key);
  const [beside] = ledger.owners.contextsBeside(key);
  const why = current === undefined
    ? "no release of it is deployed"
    : `context ${deployedBy(ledger, key) ?? beside} of its engine has it, or takes it over`;
  const message = isThere
    ? `a person forgot it: ${why}; what is on the engine was left alone`
    : `a person forgot it: there is no context ${key.context} any more; what runs there was left alone`;
  // Volumes that an attempt made may be there: nobody else gets them under this name.
  const keepsOwner = isThere && ledger.history(key, 1).length > 0;
  ledger.destroyed(ledger.beginDestroy(key, {}), message, { keepsOwner });
  // What a job has stopped there is started by nobody any more; by a context that is there, at the run's end.
  if (!isThere) ledger.stoppedByJobs.remove(key);
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
    `the context ${context} is there and ${name} is deployed, so it can be removed from it: with ` +
      "destroy: true, or over the API. Nothing was changed",
  );
}

function requireForgettable(ledger: ForgetParts["ledger"], key: StackKey, isThere: boolean): void {
  const isLeftOpen = ledger.isCutOff(key);
  const isKnown = isLeftOpen || ledger.current(key) !== undefined ||
    ledger.decisions.of(key, 1).length > 0;
  if (!isKnown) throw unknownStack(key);
  const isDeployed = ledger.current(key) !== undefined;
  if (isThere && isDeployed && ledger.owners.contextsBeside(key).length === 0) {
    throw stillThere(key);
  }
  const [last] = ledger.decisions.of(key, 1);
  if (isThere && !isLeftOpen && last?.kind === "destroy" && last.outcome?.status === "succeeded") {
    throw errors.not_found(
      `there is nothing to forget of ${key.name}: it was removed or forgotten (` +
        `${last.outcome?.message ?? last.message})`,
      { told: "it was removed or forgotten already" },
    );
  }
  if (isThere) requireNotHeld(key, ledger.holds.get(key), "forgotten");
  if (isLeftOpen && !isThere || !ledger.isUnderWay(key)) return;
  throw errors.conflict(
    `something is being done to ${key.name} at this moment, or was cut off and is taken up when the ` +
      "service runs; try again when it has ended",
  );
}
