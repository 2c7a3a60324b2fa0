import type { RunJob } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { ActiveRuns } from "./active_runs.ts";
import { nameOfJob, type ScheduledJob } from "./scheduled_job.ts";

/** What tells of which job something is. */
export type JobName = Pick<ScheduledJob, "key" | "service">;

/** Ports for taking over what runs have left stopped. */
export interface LeftRunsParts {
  /** The container of the run, as it is noted now, that has something of a job's stopped which no label tells of. */
  readonly left: (job: JobName) => string | undefined;
  readonly active: Pick<ActiveRuns, "has">;
  /** Starts the run that takes it over; must not throw. */
  readonly start: (job: JobName, how: Pick<RunJob, "origin" | "adopts">) => void;
  readonly clock: Clock;
}

/** Milliseconds before another try to have started what a run left stopped: first, doubled, and at most. */
const AGAIN_MS = { first: 10_000, longest: 300_000 } as const;

/** Runs that have left something stopped which could not be started: they are taken over until all is. */
export class LeftRuns {
  readonly #parts: LeftRunsParts;
  readonly #signal: AbortSignal;
  /** Jobs whose left run is being taken over. */
  readonly #adopting = new Set<string>();
  /** Jobs whose left run is taken over again after pauses. */
  readonly #retried = new Set<string>();

  /** Tries again until `signal` aborts. */
  constructor(parts: LeftRunsParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** The run of a job to take over now, unless one of its goes on or is taken over. */
  by(job: JobName): string[] {
    const name = nameOfJob(job);
    if (this.#parts.active.has(name) || this.#adopting.has(name)) return [];
    const id = this.#parts.left(job);
    if (id === undefined) return [];
    this.#adopting.add(name);
    void this.#retry(job);
    return [id];
  }

  /** Notes that a run of a job has ended, or that which takes it over. */
  noteEnd(job: JobName): void {
    this.#adopting.delete(nameOfJob(job));
    if (!this.#signal.aborted && this.#parts.left(job) !== undefined) void this.#retry(job);
  }

  /** Tries until nothing is left: no event tells that what could not be started can be. */
  async #retry(job: JobName): Promise<void> {
    const { left, active, start, clock } = this.#parts;
    const name = nameOfJob(job);
    if (this.#retried.has(name)) return;
    this.#retried.add(name);
    for (let pause: number = AGAIN_MS.first;; pause = Math.min(2 * pause, AGAIN_MS.longest)) {
      await clock.sleep(pause, this.#signal).catch(() => {});
      const adopts = this.#signal.aborted ? undefined : left(job);
      if (adopts === undefined) break;
      if (!active.has(name)) start(job, { origin: "automatic", adopts });
    }
    this.#retried.delete(name);
  }
}
