import type { Clock } from "../system/mod.ts";

/** Longest single sleep, since the clock may be set in between. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000;

/** One timer for the earliest of many instants. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  readonly #signal: AbortSignal;
  #at: number | undefined;
  #wait = new AbortController();

  /** An alarm that calls `ring`, which must not throw, until `signal` aborts. */
  constructor(clock: Clock, ring: () => void, signal: AbortSignal) {
    this.#clock = clock;
    this.#ring = ring;
    this.#signal = signal;
  }

  /** Sets the only instant to ring at, once; without `at` the alarm does not ring. */
  set(at: number | undefined): void {
    if (at === this.#at) return;
    this.#wait.abort();
    this.#wait = new AbortController();
    this.#at = at;
    if (at === undefined || this.#signal.aborted) return;
    void this.#sleep(at, AbortSignal.any([this.#wait.signal, this.#signal]));
  }

  async #sleep(at: number, signal: AbortSignal): Promise<void> {
    const left = () => at - this.#clock.now().getTime();
    try {
      for (let rest = left(); rest > 0; rest = left()) {
        await this.#clock.sleep(Math.min(rest, LONGEST_SLEEP_MS), signal);
      }
    } catch {
      return;
    }
    if (signal.aborted) return;
    this.#at = undefined;
    this.#ring();
  }
}
