/** Milliseconds below which a round of the event loop counts as short. */
const SHORT_MS = 2;

interface TurnOptions {
  /** Turns in one round of the event loop. */
  readonly most: number;
  /**
   * Whether a long round is followed by a rest of the same length and then by a single turn, so that
   * other work gets half of the time. Not for short turns: heavy senders would make rounds long, and
   * the rests would starve the others.
   */
  readonly rests: boolean;
}

interface Waiting {
  readonly begin: () => void;
  readonly isGone: () => boolean;
}

/**
 * Turns of requests. Hundreds of connections may send requests at once, and the runtimes begin all of
 * them together: here only a few begin in each round of the event loop, with other work in between. A
 * single request does not wait.
 */
export class Turns {
  readonly #options: TurnOptions;
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  #isTaken = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /**
   * Resolves when it is the caller's turn; `undefined` when it may begin now. Callers for whom `isGone`
   * is true by then use up no turn: clients come and go faster than turns do.
   */
  take(isGone: () => boolean = () => false): Promise<void> | undefined {
    if (this.#isTaken) return new Promise((begin) => this.#waiting.add({ begin, isGone }));
    this.#isTaken = true;
    this.#passLater();
    return undefined;
  }

  #passLater(): void {
    const { most, rests } = this.#options;
    const began = performance.now();
    setImmediate(() => {
      const took = performance.now() - began;
      if (!rests || took < SHORT_MS) this.#pass(most);
      else if (this.#waiting.size > 0) setTimeout(() => this.#pass(1), took);
      else this.#pass(1);
    });
  }

  #pass(most: number): void {
    let begun = 0;
    for (const each of this.#waiting) {
      if (begun === most) break;
      this.#waiting.delete(each);
      each.begin();
      if (!each.isGone()) begun++;
    }
    this.#isTaken = begun > 0;
    if (this.#isTaken) this.#passLater();
  }
}
