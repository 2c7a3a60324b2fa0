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

/** Whether a run of a job only started its container: how one ended that was waited for is known. */
function isStartOnly({ status, targets: [target] }: Run): boolean {
  return status === "succeeded" && / was started$/.test(target?.message ?? "");
}

/**
 * The last run of a job, whose container may have been started only: then that tells how it ended. Also by
 * a later start, since the engine begins some anew by itself, by a clock of its own. `output` is what the
 * container printed last, to end a sentence with.
 */
export function endOf(
  run: Run | undefined,
  { state, exitCode = 0 }: Pick<ObservedContainer, "state" | "exitCode">,
  output = "",
): Run | undefined {
  if (state !== "exited" || exitCode === 0 || run === undefined || !isStartOnly(run)) return run;
  const message = `its container was started, and exited with status ${exitCode}${output}`;
  const targets = run.targets.map((each) => ({ ...each, status: "failed" as const, message }));
  return { ...run, status: "failed", message, targets };
}

/** A job as it is found, with what its container printed last. */
interface PrintingJob {
  readonly key: StackKey;
  readonly name: string;
  readonly container: Pick<ObservedContainer, "state" | "exitCode">;
  readonly printed?: (signal: AbortSignal) => Promise<string>;
}

/** Ports for telling how a run ended whose container was started only. */
export interface StartedRunParts {
  readonly jobs: (context: string, signal: AbortSignal) => Promise<readonly PrintingJob[]>;
  readonly runs: Pick<RunStore, "list">;
}

/**
 * A run as its container tells by now, where it is the last one of a job: what was started may have failed
 * since. Where the engine does not answer, it is what was recorded.
 */
export async function asItEnded(
  run: Run,
  { jobs, runs }: StartedRunParts,
  signal: AbortSignal,
): Promise<Run> {
  const [target] = run.targets;
  if (run.trigger !== "scheduled_job" || !isStartOnly(run) || !target) return run;
  const key = { context: target.context, name: target.stack };
  const all = await jobs(key.context, signal).catch(() => {
    signal.throwIfAborted();
    return [];
  });
  const job = all.find((each) =>
    each.key.name === key.name && run.repository === `scheduled:${each.name}`
  );
  if (job === undefined || lastJobRuns(runs)(key, job.name)?.id !== run.id) return run;
  if (endOf(run, job.container) === run) return run;
  return endOf(run, job.container, await job.printed?.(signal)) ?? run;
}
