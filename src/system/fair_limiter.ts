import { atEnd } from "./at_end.ts";
import { abortableWait } from "./abortable_wait.ts";
import { count } from "./count.ts";
import { createKeyedLock } from "./limiter.ts";

/** Lets a bounded number of pieces of work run at once; those in whose names the others wait take turns. */
export interface FairLimiter {
  /** Runs `work` when a slot is free and it is the turn of `who`. Can be aborted while it waits. */
  run<T>(who: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Milliseconds in which half of the time that a name used stops counting. */
const HALF_MS = 5 * 60 * 1000;
/** Milliseconds of use that make no difference: names that used about the same take turns. */
const SAME_MS = 1000;

/**
 * A limiter with `slots` slots (at least one). A free one goes to the name with the fewest pieces under
 * way, of several to the one that used the least time lately, and of those to the one that got none for
 * the longest time: however much one name has waiting, another's first piece waits for those under way
 * alone, and many short pieces of one do not each wait for a long one of another. One name alone may
 * have all slots. `now` has the milliseconds since some time.
 */
export function createFairLimiter(
  slots: number,
  now: () => number = () => performance.now(),
): FairLimiter {
  const queue = new FairQueue(Math.max(1, slots), now);
  return {
    async run(who, work, signal) {
      await queue.enter(who, signal);
      const began = now();
      using _ = atEnd(() => queue.leave(who, now() - began));
      return await work();
    },
  };
}

/** A fair limiter of which one name has at most `most` slots. */
export function boundFairly(slots: number, most: number): FairLimiter {
  const fair = createFairLimiter(slots);
  const ofOne = createKeyedLock(most);
  return { run: (who, work, signal) => ofOne.run(who, () => fair.run(who, work, signal), signal) };
}

class FairQueue {
  #free: number;
  /** Those who wait, by name, in order of their turns. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Numbers of pieces under way by name. */
  readonly #running = new Map<string, number>();
  readonly #used: UsedTimes;

  constructor(slots: number, now: () => number) {
    this.#free = slots;
    this.#used = new UsedTimes(now);
  }

  enter(who: string, signal: AbortSignal): Promise<void> {
    return abortableWait((enter) => {
      const own = this.#waiting.getOrInsertComputed(who, () => new Set()).add(enter);
      this.#admitNext();
      return () => {
        own.delete(enter);
        if (own.size === 0 && this.#waiting.get(who) === own) this.#waiting.delete(who);
      };
    }, signal);
  }

  leave(who: string, milliseconds: number): void {
    this.#used.add(who, milliseconds);
    count(this.#running, who, -1);
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
    count(this.#running, who, 1);
    this.#free--;
    admit();
  }

  #next(): string | undefined {
    let best: string | undefined;
    if (this.#waiting.size === 1) return [...this.#waiting.keys()][0];
    let least: readonly [running: number, used: number] = [Infinity, Infinity];
    for (const who of this.#waiting.keys()) {
      const running = this.#running.get(who) ?? 0;
      const used = Math.floor(this.#used.of(who) / SAME_MS);
      if (running > least[0] || running === least[0] && used >= least[1]) continue;
      [best, least] = [who, [running, used]];
    }
    return best;
  }
}

/** Times that names used lately; what was used longer ago counts less and less. */
class UsedTimes {
  readonly #now: () => number;
  /** Those that used most lately at the end. */
  readonly #used = new Map<string, { readonly milliseconds: number; readonly at: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  of(who: string): number {
    const { milliseconds, at } = this.#used.get(who) ?? { milliseconds: 0, at: 0 };
    return milliseconds === 0 ? 0 : milliseconds / 2 ** (Math.max(0, this.#now() - at) / HALF_MS);
  }

  add(who: string, more: number): void {
    const milliseconds = this.of(who) + Math.max(0, more);
    this.#used.delete(who);
    if (milliseconds >= SAME_MS / 100) this.#used.set(who, { milliseconds, at: this.#now() });
    for (const oldest of this.#used.keys()) {
      if (this.#used.size <= MOST_NAMES && this.of(oldest) >= SAME_MS / 100) break;
      this.#used.delete(oldest);
    }
  }
}

const MOST_NAMES = 10_000;
