/** Milliseconds of a round of the event loop that nobody notices. */
const SHORT_MS = 2;

/** Options of {@link Turns}. */
interface TurnOptions {
  /** Turns in one round of the event loop. */
  readonly most: number;
  /**
   * Whether a rest follows a round that was long, as long as that was, and then one turn: half of the time
   * is for others. Where turns are short, those who send much make rounds long, and nobody would come.
   */
  readonly rests: boolean;
}

interface Waiting {
  readonly begin: () => void;
  readonly isGone: () => boolean;
}

/**
 * Turns of requests. The runtimes begin all that came at once in one go, and hundreds of connections may
 * ask at once: of many, few begin in each round of the event loop, and everything else that goes on has
 * its turn in between. A request that comes alone does not wait.
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
   * Resolves when it is the caller's turn; `undefined` when it is now. Who is gone by then takes no turn
   * of others: clients come and go faster than turns do.
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
