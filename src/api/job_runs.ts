import { formatStackKey, type ObservedContainer, type Run, type StackKey } from "../model/mod.ts";
import type { RunStore } from "../record/mod.ts";

/** Newest runs of jobs among which the last one of each is looked for. */
const MOST_RUNS = 200;

/**
 * Makes a function that finds the newest run of a job, by its stack and the name of its container, among
 * those that `isWanted` takes; `undefined` where none is known. Runs are listed once, now.
 */
export function lastJobRuns(
  runs: Pick<RunStore, "list">,
  isWanted: (run: Run) => boolean = () => true,
): (key: StackKey, name: string) => Run | undefined {
  const known = new Map<string, Run>();
  for (const run of runs.list({ limit: MOST_RUNS, trigger: "scheduled_job" }).filter(isWanted)) {
    for (const { context, stack } of run.targets) {
      const name = `${formatStackKey({ context, name: stack })} ${run.repository}`;
      if (!known.has(name)) known.set(name, run);
    }
  }
  return (key, name) => known.get(`${formatStackKey(key)} scheduled:${name}`);
}

/** The last run of a job, whose container may have been started only: then that tells how it ended. */
export function endOf(
  run: Run | undefined,
  { state, exitCode = 0 }: Pick<ObservedContainer, "state" | "exitCode">,
): Run | undefined {
  if (state !== "exited" || exitCode === 0 || run?.status !== "succeeded") return run;
  const message = `its container was started, and exited with status ${exitCode}`;
  const targets = run.targets.map((each) => ({ ...each, status: "failed" as const, message }));
  return { ...run, status: "failed", message, targets };
}
