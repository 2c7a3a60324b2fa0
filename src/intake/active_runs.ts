import type { Run } from "../model/mod.ts";
import { type Clock, within } from "../system/mod.ts";

interface ActiveRun {
  readonly controller: AbortController;
  readonly finished: Promise<Run>;
}

/** The unfinished runs, with the means to abort them. */
export class ActiveRuns {
  readonly #runs = new Map<string, ActiveRun>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#runs.size;
  }

  /** Adds a run; `finished` must never reject. */
  add(id: string, run: ActiveRun): void {
    this.#runs.set(id, run);
  }

  /** Removes a finished run. May be called twice. */
  remove(id: string): void {
    this.#runs.delete(id);
  }

  /** Aborts the work of all runs and returns their ids. Runs stay until they are removed. */
  abort(reason: Error): string[] {
    for (const { controller } of this.#runs.values()) controller.abort(reason);
    return [...this.#runs.keys()];
  }

  /** Whether all runs finish within so many milliseconds. */
  async endWithin(milliseconds: number): Promise<boolean> {
    const finished = Promise.all([...this.#runs.values()].map((run) => run.finished));
    return await within(finished, milliseconds, this.#clock, new AbortController().signal);
  }
}
