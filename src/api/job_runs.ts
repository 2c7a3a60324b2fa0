import { formatStackKey, type Run, type StackKey } from "../model/mod.ts";
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
