import { type Clock, count, within } from "../system/mod.ts";

interface ActiveRun {
  readonly controller: AbortController;
  readonly finished: Promise<unknown>;
  /** Name of the repository of a webhook. */
  readonly pushed?: string | undefined;
}

/** The unfinished runs, and changes that are none, with the means to abort them. */
export class ActiveRuns {
  readonly #runs = new Map<string, ActiveRun>();
  /** Numbers of runs by repository of a webhook. */
  readonly #pushed = new Map<string, number>();
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
    if (run.pushed !== undefined) count(this.#pushed, run.pushed, 1);
  }

  /** Removes a finished run. May be called twice. */
  remove(id: string): void {
    const pushed = this.#runs.get(id)?.pushed;
    this.#runs.delete(id);
    if (pushed !== undefined) count(this.#pushed, pushed, -1);
  }

  /** Number of the runs for webhooks of a repository. */
  ofPushed(repository: string): number {
    return this.#pushed.get(repository) ?? 0;
  }

  get ids(): string[] {
    return [...this.#runs.keys()];
  }

  /** Aborts the work of runs, which stay until they are removed. */
  abort(ids: readonly string[], reason: Error): void {
    for (const id of ids) this.#runs.get(id)?.controller.abort(reason);
  }

  /** Whether all runs finish within so many milliseconds. */
  async endWithin(milliseconds: number): Promise<boolean> {
    const finished = Promise.all([...this.#runs.values()].map((run) => run.finished));
    return await within(finished, milliseconds, this.#clock, new AbortController().signal);
  }
}
