import { clip, endOfOutput, isTerminal, type Run, type RunEnd } from "../model/mod.ts";
import type { RunStore } from "../record/mod.ts";
import { type Log, type Redactor, sourceAsOwner } from "../system/mod.ts";
import type { PollFailures } from "./poll_failures.ts";

/** Ports for ending runs. */
export interface EndParts {
  readonly runs: RunStore;
  readonly redactor: Redactor;
  readonly log: Log;
}

interface EndFacts extends RunEnd {
  /** Whether the failures were logged already, by the targets. */
  readonly isTold?: boolean;
  /** What became of an earlier failure of the same poll. */
  readonly failure?: ReturnType<PollFailures["note"]>;
}

/** Ends a run, logs it, and fails the open targets of a failed one. The first of several ends counts. */
export function endRun(id: string, end: EndFacts, { runs, redactor, log }: EndParts): Run {
  const before = runs.get(id);
  const message = redactor.redact(end.message, ...sourceOf(before));
  for (const target of end.status === "failed" ? before?.targets ?? [] : []) {
    if (target.status === "pending" || target.status === "running") {
      runs.target(id, { ...target, status: "failed", message });
    }
  }
  const run = runs.finish(id, { status: end.status, message });
  if (before !== undefined && !isTerminal(before.status)) logEnd(run, end, log);
  return run;
}

/** The source of a run, whose secrets are redacted in the run's texts. */
export function sourceOf(run: Partial<Pick<Run, "repository">> | undefined): string[] {
  return run?.repository === undefined ? [] : [sourceAsOwner(run.repository)];
}

/** Characters of a failed job's message, which repeats what its container printed. */
const MOST_OF_JOB = 500;

const OVER = ": what the polls before it failed of is over";

/** Logs the end in one line; polls without news, which come every minute, at `debug`. */
function logEnd(run: Run, { isTold = false, failure }: EndFacts, log: Log): void {
  const { status, repository, targets } = run;
  const isJob = run.trigger === "scheduled_job";
  const message = isJob ? clip(endOfOutput(run.message), MOST_OF_JOB) : run.message;
  if (status === "failed" && isTold) {
    const failed = targets.filter((each) => each.status === "failed").map(({ stack }) => stack);
    log.info(`run failed${failure === "over" ? OVER : ""}`, { status, repository, failed });
  } else if (status === "failed" && failure === "again") {
    log.debug("run failed as before", { status, repository, message });
  } else if (status === "failed") log.error("run failed", { status, repository, message });
  else if (failure === "over") {
    log.info(`run ${status}${OVER}`, { status, repository, message });
  } else if (status === "skipped" && run.trigger === "poll") {
    log.debug("run skipped", { status, repository, message });
  } else log.info(`run ${status}`, { status, repository, message });
}
