import type { Clock } from "../../system/mod.ts";

const FIRST_MS = 60 * 1000;
const LONGEST_MS = 60 * 60 * 1000;
/** Milliseconds without any work after which pauses are short again. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** Pauses between pieces of work that may be in vain, each twice as long as the one before. */
export class GrowingPauses {
  readonly #clock: Clock;
  #pauseMs = FIRST_MS;
  #endsAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Time at which the pause ends; `undefined` when there is none now. */
  until(): Date | undefined {
    const left = this.#endsAt - this.#clock.now().getTime();
    // A clock that was put back must not prolong it.
    return left > 0 && left <= LONGEST_MS ? new Date(this.#endsAt) : undefined;
  }

  /** Does the work; afterwards there is a pause, however the work ended. */
  async before<T>(work: () => Promise<T>): Promise<T> {
    if (this.#clock.now().getTime() - this.#endsAt > FORGOTTEN_MS) this.#pauseMs = FIRST_MS;
    try {
      return await work();
    } finally {
      this.#endsAt = this.#clock.now().getTime() + this.#pauseMs;
      this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_MS);
    }
  }
}
