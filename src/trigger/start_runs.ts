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
  /** The jobs with runs under way, and how many there may be for another one to start. */
  readonly active: { readonly size: number };
  readonly mostRuns: number;
  /** Starts a run; must not throw. */
  readonly start: (run: JobToStart<Job>) => void;
}

/** Milliseconds between two looks whether there are fewer of them. */
const ROOM_MS = 1000;
/** Characters of texts that take as long to process as planning the next run and starting this one. */
const A_RUN = 8 * 1024;

/**
 * Starts runs of one engine's jobs with pauses, each when few enough are under way; what is due is
 * asked for then; `undefined` is one that took time and is not started. Returns early when the signal
 * aborts; rejects only with what `runs` throws.
 */
export async function startRuns<Job>(
  runs: Iterable<JobToStart<Job> | undefined>,
  { clock, log, active, mostRuns, start }: StartParts<Job>,
  signal: AbortSignal,
): Promise<void> {
  const pauses = createPauses();
  const iterator = runs[Symbol.iterator]();
  let hasToWait = false;
  for (;;) {
    while (active.size >= mostRuns && !signal.aborted) {
      if (!hasToWait) {
        log.warning(`jobs that are due wait: ${mostRuns} runs of jobs are under way`);
      }
      hasToWait = true;
      await clock.sleep(ROOM_MS, signal).catch(() => {});
    }
    if (signal.aborted) return;
    const { done, value } = iterator.next();
    if (done === true) return;
    if (value !== undefined) start(value);
    await pauses.after(A_RUN);
  }
}
