import type { Clock } from "../system/mod.ts";
import { sleepUntil } from "./sleep_until.ts";

/** One timer for the earliest of many instants. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: (setBackMs: number) => void;
  readonly #signal: AbortSignal;
  #at: number | undefined;
  #wait = new AbortController();

  /**
   * An alarm that calls `ring`, which must not throw, until `signal` aborts: also earlier when the
   * clock was set back, with the milliseconds of that, as the instant is then the wrong one.
   */
  constructor(clock: Clock, ring: (setBackMs: number) => void, signal: AbortSignal) {
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
    let setBackMs: number;
    try {
      setBackMs = await sleepUntil(this.#clock, at, signal);
    } catch {
      return;
    }
    if (signal.aborted) return;
    this.#at = undefined;
    this.#ring(setBackMs);
  }
}
