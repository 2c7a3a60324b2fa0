import type { LabelledJob } from "../config/mod.ts";
import type { RunJob } from "../model/mod.ts";
import { type Clock, createPauses, type Log } from "../system/mod.ts";

/** A job whose time has come, and the run of an earlier process that is adopted, if it is one. */
export interface JobToStart<Job> {
  readonly job: Job;
  readonly how: Pick<RunJob, "adopts">;
}

interface StartParts<Job> {
  readonly clock: Clock;
  readonly log: Log;
  /** The jobs with runs under way. */
  readonly active: { readonly size: number };
  /** Starts a run; must not throw. */
  readonly start: (run: JobToStart<Job>) => void;
}

/** Runs of one engine's jobs that go on at once: it may tell of any number that are due. */
const MOST_RUNS = 100;
/** Milliseconds between two looks whether there are fewer of them. */
const ROOM_MS = 1000;
/** Characters of texts that take as long to process as starting a run. */
const A_RUN = 8 * 1024;

/**
 * Starts runs of one engine's jobs with pauses, each when few enough are under way. Returns early
 * when the signal aborts; never rejects.
 */
export async function startRuns<Job extends Pick<LabelledJob, "key">>(
  runs: Iterable<JobToStart<Job>>,
  { clock, log, active, start }: StartParts<Job>,
  signal: AbortSignal,
): Promise<void> {
  const pauses = createPauses();
  let hasToWait = false;
  for (const run of runs) {
    while (active.size >= MOST_RUNS && !signal.aborted) {
      if (!hasToWait) {
        const text = `jobs that are due wait: ${MOST_RUNS} runs of jobs are under way`;
        log.with({ context: run.job.key.context }).warning(text);
      }
      hasToWait = true;
      await clock.sleep(ROOM_MS, signal).catch(() => {});
    }
    if (signal.aborted) return;
    start(run);
    await pauses.after(A_RUN);
  }
}
