import * as z from "zod";
import { chooseRelease } from "../record/mod.ts";
import { reasonInput } from "./hold.ts";
import type { Operation } from "./operation.ts";
import { BY_HAND, runResult, runWork, type RunWorkParts, waitInput } from "./run_work.ts";
import { stackAction } from "./stack_action.ts";
import { stackInput, type StackParts } from "./stack_parts.ts";

const rollbackResult = runResult.extend({
  release: z.int().describe("Number of the release that is put back."),
});

const input = stackInput.extend({
  release: z.int().min(1).optional()
    .describe("Number of a release; by default the good one before the current."),
  reason: reasonInput,
  wait: waitInput,
});

/**
 * Rolls a stack back to an earlier release and keeps it there, in a run. A call throws `not_found`
 * when there is no such release, and `conflict` when it is not this owner's and repository's.
 */
export function rollBackOperation(
  { ledger, ...parts }: RunWorkParts & Pick<StackParts, "ledger">,
): Operation<z.output<typeof rollbackResult>> {
  return stackAction({
    action: "roll back",
    id: "rollbackDeployment",
    summary: "Put a stack back to an earlier release, and keep it there.",
    input,
    output: rollbackResult,
    errors: ["bad_request", "conflict", "not_found", "shutting_down"],
  }, async (key, { release, reason, wait }, call) => {
    const { number } = chooseRelease(ledger, key, release).wanted;
    const work = { kind: "rollback", ...BY_HAND, key, release: number, reason } as const;
    const asked = { work, wait, started: "rollback started", failed: "rollback failed" };
    return { ...await runWork(asked, parts, call), release: number };
  });
}
