/** Milliseconds of a round of the event loop that nobody notices. */
const SHORT_MS = 2;

/** Options of {@link Turns}. */
interface TurnOptions {
  /** Turns in one round of the event loop, as long as rounds are short. */
  readonly most: number;
  /** Whether a rest follows a round that was long, as long as that was: half of the time is for others. */
  readonly rests: boolean;
}

/**
 * Turns of requests. The runtimes begin all that came at once in one go, and hundreds of connections may
 * ask at once: of many, few begin in each round of the event loop, and everything else that goes on has
 * its turn in between. A request that comes alone does not wait.
 */
export class Turns {
  readonly #options: TurnOptions;
  /** Oldest first. */
  readonly #waiting = new Set<() => void>();
  #isTaken = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Resolves when it is the caller's turn; `undefined` when it is now. */
  take(): Promise<void> | undefined {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.add(resolve));
    this.#isTaken = true;
    this.#passLater();
    return undefined;
  }

  #passLater(): void {
    const { most, rests } = this.#options;
    const began = performance.now();
    setImmediate(() => {
      const took = performance.now() - began;
      if (took < SHORT_MS) this.#pass(most);
      else if (rests && this.#waiting.size > 0) setTimeout(() => this.#pass(1), took);
      else this.#pass(1);
    });
  }

  #pass(most: number): void {
    const turns = [...this.#waiting.values().take(most)];
    this.#isTaken = turns.length > 0;
    if (!this.#isTaken) return;
    this.#passLater();
    for (const turn of turns) {
      this.#waiting.delete(turn);
      turn();
    }
  }
}
