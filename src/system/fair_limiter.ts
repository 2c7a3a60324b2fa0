/** Lets a bounded number of pieces of work run at once; those in whose names the others wait take turns. */
export interface FairLimiter {
  /**
   * Runs `work` on behalf of `who` when a slot is free and it is the turn of `who`. Rejects with the
   * signal's reason while still waiting.
   */
  run<T>(who: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * A limiter with `slots` slots (at least one). A free one goes to the name with the fewest pieces under
 * way, and of several to the one that got none for the longest time: however much one name has waiting,
 * another's first piece waits for those under way alone. One name alone may have all slots.
 */
export function createFairLimiter(slots: number): FairLimiter {
  const queue = new FairQueue(Math.max(1, slots));
  return {
    async run(who, work, signal) {
      await queue.enter(who, signal);
      try {
        return await work();
      } finally {
        queue.leave(who);
      }
    },
  };
}

class FairQueue {
  #free: number;
  /** Those who wait, by name, in order of their turns. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Numbers of pieces under way by name. */
  readonly #running = new Map<string, number>();

  constructor(slots: number) {
    this.#free = slots;
  }

  enter(who: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const own = this.#waiting.get(who) ?? new Set();
      const onAbort = () => {
        // A waiter that gives up must not be handed the slot later: it would be lost.
        own.delete(admit);
        if (own.size === 0 && this.#waiting.get(who) === own) this.#waiting.delete(who);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(who, own.add(admit));
      this.#admitNext();
    });
  }

  leave(who: string): void {
    const left = (this.#running.get(who) ?? 1) - 1;
    if (left > 0) this.#running.set(who, left);
    else this.#running.delete(who);
    this.#free++;
    this.#admitNext();
  }

  #admitNext(): void {
    const who = this.#next();
    const own = who === undefined ? undefined : this.#waiting.get(who);
    const [admit] = own ?? [];
    if (who === undefined || own === undefined || admit === undefined || this.#free === 0) return;
    own.delete(admit);
    this.#waiting.delete(who);
    // Behind all other names: their turns come first now.
    if (own.size > 0) this.#waiting.set(who, own);
    this.#running.set(who, (this.#running.get(who) ?? 0) + 1);
    this.#free--;
    admit();
  }

  #next(): string | undefined {
    let best: string | undefined;
    const running = (who: string) => this.#running.get(who) ?? 0;
    for (const who of this.#waiting.keys()) {
      if (best === undefined || running(who) < running(best)) best = who;
    }
    return best;
  }
}
