import { isTerminal, type Run } from "../model/mod.ts";
import type { RunEnd, RunStore } from "../record/mod.ts";
import type { Log, Redactor } from "../system/mod.ts";

/** What it takes to end runs. */
export interface EndParts {
  readonly runs: RunStore;
  readonly redactor: Redactor;
  readonly log: Log;
}

/**
 * Ends a run, and of a failed one also the targets that were left open, and says so in the log. May
 * be called twice: the first end counts.
 */
export function endRun(id: string, end: RunEnd, { runs, redactor, log }: EndParts): Run {
  const before = runs.get(id);
  const message = redactor.redact(end.message);
  for (const target of end.status === "failed" ? before?.targets ?? [] : []) {
    if (target.status === "pending" || target.status === "running") {
      runs.target(id, { ...target, status: "failed", message });
    }
  }
  const run = runs.finish(id, { status: end.status, message });
  if (before !== undefined && !isTerminal(before.status)) logEnd(run, log);
  return run;
}

function logEnd(run: Run, log: Log): void {
  const fields = { status: run.status, repository: run.repository, message: run.message };
  if (run.status === "failed") log.error("run failed", fields);
  else log.info(`run ${run.status}`, fields);
}
