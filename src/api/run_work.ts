import * as z from "zod";
import { CANCELLED_BY_CLIENT, CANCELLED_BY_SHUTDOWN, type Intake } from "../intake.ts";
import type { Run, Work } from "../model/mod.ts";
import { isDeferred, splitFailure } from "../plan/mod.ts";
import type { Call } from "./operation.ts";
import { createRunView, runView } from "./run_view.ts";

/** The result of a person's work. */
export const runResult = z.strictObject({
  outcome: z.enum(["started", "complete", "deferred", "failed", "cancelled"]).describe(
    "deferred: every deployment is paused or deferred by a sync window.",
  ),
  message: z.string().describe("One sentence."),
  detail: z.string().optional().describe("What failed, and why."),
  run: runView,
});

/** See {@link runResult}. */
export type RunResult = z.output<typeof runResult>;

/** The input for whether a caller waits. */
export const waitInput = z.boolean().default(true).describe(
  "Wait for the end of the run. A client that goes away ends it while it has changed nothing.",
);

/** Trigger and origin of work that a person asks for: runs know no other trigger for it. */
export const BY_HAND = { trigger: "poll", origin: "manual" } as const;

/** Ports for running work. */
export interface RunWorkParts {
  readonly intake: Intake;
  readonly timeZone: string;
}

/** Work, with how it was asked for. */
export interface AskedWork {
  readonly work: Work;
  readonly wait: boolean;
  /** The message for a caller who does not wait. */
  readonly started: string;
  /** The message for a failure; by default that of the run. */
  readonly failed?: string;
  /** The lane in the intake, see {@link Intake.submit}. */
  readonly lane?: string;
}

/**
 * Runs work. With `wait` the caller's disconnect cancels it while it has changed nothing; without, only a
 * shutdown does. Throws `shutting_down`; work that fails is a result.
 */
export async function runWork(
  { work, wait, started, failed, lane }: AskedWork,
  { intake, timeZone }: RunWorkParts,
  { signal, onRun }: Pick<Call, "signal" | "onRun">,
): Promise<RunResult> {
  const view = createRunView(timeZone);
  const inLane = lane === undefined ? {} : { lane };
  if (!wait) {
    const { run } = intake.submit(work, inLane);
    return { outcome: "started", message: started, run: view(run) };
  }
  const admission = intake.submit(work, { signal, ...inLane });
  onRun?.(admission.run.id);
  const run = await admission.finished;
  const end = describeEnd(run);
  const named = end.outcome === "failed" && failed !== undefined
    ? { ...end, message: failed, detail: run.message }
    : end;
  return { ...named, run: view(run) };
}

function describeEnd(run: Run): Omit<RunResult, "run"> {
  const { status, message, targets } = run;
  if (message === CANCELLED_BY_CLIENT || message === CANCELLED_BY_SHUTDOWN) {
    return { outcome: "cancelled", message };
  }
  if (status === "failed") {
    const { headline, detail } = splitFailure(message);
    return { outcome: "failed", message: headline, ...(detail === "" ? {} : { detail }) };
  }
  const deferred = status === "skipped" && isDeferred(targets);
  return { outcome: deferred ? "deferred" : "complete", message };
}
