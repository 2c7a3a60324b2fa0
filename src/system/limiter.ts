import { atEnd } from "./at_end.ts";
import { abortableWait } from "./abortable_wait.ts";
import type { Clock } from "./clock.ts";
import { count } from "./count.ts";
import { FairPlaces, LATE_MS, leftForLate, Places, type Whose } from "./fair_places.ts";

/** A slot of a limiter, which its holder may give to others while it only waits. */
export interface Slot {
  /** Gives the slot away; does nothing when it is not held. */
  leave(): void;
  /** Waits until the slot is held again, ahead of work that never had one. Can be aborted. */
  takeAgain(signal: AbortSignal): Promise<void>;
}

/** Lets a bounded number of pieces of work run at once; the others wait in order of arrival. */
export interface Limiter {
  /** Runs `work` on behalf of `who` when a slot is free; before, rejects with the signal's reason. */
  run<T>(work: (slot: Slot) => Promise<T>, signal: AbortSignal, who?: Whose): Promise<T>;
}

/** A limiter with `slots` slots (at least one). Work with a `who` waits no longer than `patience`. */
export function createLimiter(slots: number, patience?: Patience): Limiter {
  const queue = createQueue(slots);
  const beside = patience && new Beside(queue, slots, patience);
  const enter = (signal: AbortSignal, first: boolean, who: Whose | undefined) =>
    who === undefined || beside === undefined
      ? queue.enter(signal, { first })
      : beside.enter(signal, { first, who });
  return {
    async run(work, signal, who) {
      let leave: (() => void) | undefined = await enter(signal, false, who);
      let taking: Promise<void> | undefined;
      let isOver = false;
      const take = async (within: AbortSignal) => {
        const entered = await enter(within, true, who);
        if (isOver) entered();
        else leave = entered;
      };
      const slot: Slot = {
        leave() {
          leave?.();
          leave = undefined;
        },
        async takeAgain(within) {
          if (leave !== undefined || isOver) return;
          // One wait for all parts of the work: a second one would be for a slot that this work has itself.
          taking ??= take(within).finally(() => taking = undefined);
          await taking;
        },
      };
      try {
        return await work(slot);
      } finally {
        isOver = true;
        slot.leave();
      }
    },
  };
}

/**
 * A limiter that admits at most `most` pieces of work of one source, including those that lent their slots, and of
 * each repository that it deploys what {@link FairPlaces} says. Further work waits outside the queue and delays nobody.
 */
export function boundByName(limiter: Limiter, most: number, clock: Clock): Limiter {
  const doors = new FairPlaces(clock, () => ({ places: most, mostForFirst: most }));
  return {
    async run(work, signal, who) {
      if (who === undefined) return await limiter.run(work, signal);
      const door = [who.source] as const;
      signal.throwIfAborted();
      const leave = doors.take(who, door) ?? await doors.place(who, door, signal);
      using _ = atEnd(leave);
      return await limiter.run(work, signal, who);
    },
  };
}

/** Longest wait of named work for a slot while each slot is another name's. */
interface Patience {
  readonly clock: Clock;
  readonly milliseconds: number;
}

/** Milliseconds between two looks at who has the slots. */
const LOOK_MS = 10_000;

/** The name of the slots among the places of those who waited long. */
const SLOTS = "slots";

/**
 * Admits work that waited too long beyond the slots: one piece per source at a time, and none for a repository that
 * has work under way; and one for each repository without any that waited for a minute, as {@link FairPlaces} does,
 * since a few repositories of one source may keep all slots and the one beside. Otherwise a repository that fills all slots would decide how long others wait. While a
 * source has several slots, others wait for one look only, as long as no more go on beside the slots than
 * there are slots.
 */
class Beside {
  readonly #queue: Queue;
  readonly #slots: number;
  readonly #patience: Patience;
  /** Number of those at work of each source, and of each repository of one. */
  readonly #working = {
    sources: new Map<string, number>(),
    repositories: new Map<string, number>(),
  };
  /** Number of those of each source that were let in beside the slots. */
  readonly #beside = new Map<string, number>();
  /** Those that were let in beside these. */
  readonly #late: Places;

  constructor(queue: Queue, slots: number, patience: Patience) {
    this.#queue = queue;
    this.#slots = slots;
    this.#patience = patience;
    this.#late = new Places((_key, taken) => leftForLate({ places: slots }, taken));
  }

  async enter(
    signal: AbortSignal,
    { first, who }: { readonly first: boolean; readonly who: Whose },
  ): Promise<() => void> {
    const [waiting, settled] = [new AbortController(), new AbortController()];
    let leaveBeside: (() => void) | undefined;
    const onAbort = () => waiting.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const place = this.#queue.enter(waiting.signal, { first });
    const letIn = (leave: () => void) => {
      leaveBeside = leave;
      this.#count(who, 1);
      waiting.abort(LET_IN);
    };
    this.#outwait(who, letIn, settled.signal).catch(() => {});
    try {
      const leave = await place;
      // It may have been let in at the moment when it got its slot.
      if (leaveBeside !== undefined) leaveBeside();
      else this.#count(who, 1);
      return this.#leaving(who, leave);
    } catch (error) {
      const leave = leaveBeside && this.#leaving(who, leaveBeside);
      if (error === LET_IN && leave !== undefined) return leave;
      leave?.();
      throw error;
    } finally {
      settled.abort("settled");
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Check and `letIn` must run without a wait in between: work of that source may wake at the same time. */
  async #outwait(
    who: Whose,
    letIn: (leave: () => void) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, milliseconds } = this.#patience;
    let leave: (() => void) | undefined;
    for (let waited = 0; leave === undefined;) {
      const pause = Math.min(LOOK_MS, Math.max(0, milliseconds - waited)) || LOOK_MS;
      await clock.sleep(pause, signal);
      if (signal.aborted) return;
      waited += pause;
      leave = this.#place(who, waited);
    }
    letIn(leave);
  }

  /** A place beside the slots for who waited so long, if there is one; returns what gives it back. */
  #place(who: Whose, waited: number): (() => void) | undefined {
    if (this.#mayGo(who) && (waited >= this.#patience.milliseconds || this.#isCrowded())) {
      count(this.#beside, who.source, 1);
      return () => count(this.#beside, who.source, -1);
    }
    const isLate = waited >= LATE_MS && !this.#working.repositories.has(nameOf(who));
    if (!isLate || !this.#late.take(who, [SLOTS])) return undefined;
    return () => this.#late.free(who, [SLOTS]);
  }

  #mayGo(who: Whose): boolean {
    const { sources, repositories } = this.#working;
    return !sources.has(who.source) ||
      !repositories.has(nameOf(who)) && !this.#beside.has(who.source);
  }

  /** Whether a source has several slots, and few went beside these. */
  #isCrowded(): boolean {
    const beside = this.#beside.values().reduce((sum, each) => sum + each, 0);
    return beside < this.#slots && this.#working.sources.values().some((count) => count > 1);
  }

  #count(who: Whose, by: 1 | -1): void {
    count(this.#working.sources, who.source, by);
    count(this.#working.repositories, nameOf(who), by);
  }

  #leaving(who: Whose, leave: () => void): () => void {
    return () => {
      this.#count(who, -1);
      leave();
    };
  }
}

function nameOf({ source, repository }: Whose): string {
  return JSON.stringify([source, repository]);
}

/** Abort reason of a wait that ends because the work is admitted beyond the slots. */
const LET_IN = Symbol("let in beside the others");

/** One limiter per key, by default with a single slot; keys do not affect each other. */
export interface KeyedLock {
  /** Runs `work` when a slot of `key` is free. Rejects with the signal's reason while waiting. */
  run<T>(key: string, work: (slot: Slot) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** A lock of which can be told whether somebody holds it, or waits for it, at this moment. */
export interface WatchableLock extends KeyedLock {
  isBusy(key: string): boolean;
}

/** A lock that nobody holds. Keys nobody waits for take no memory. */
export function createKeyedLock(slots = 1): WatchableLock {
  const limiters = new Map<string, { readonly limiter: Limiter; users: number }>();
  return {
    isBusy: (key) => limiters.has(key),
    async run(key, work, signal) {
      const make = () => ({ limiter: createLimiter(slots), users: 0 });
      const entry = limiters.getOrInsertComputed(key, make);
      entry.users++;
      try {
        return await entry.limiter.run(work, signal);
      } finally {
        entry.users--;
        if (entry.users === 0) limiters.delete(key);
      }
    },
  };
}

interface Queue {
  /** Resolves with the function that frees the slot again; `first` goes ahead of all that do not. */
  enter(signal: AbortSignal, options?: { readonly first: boolean }): Promise<() => void>;
}

/** `action`, which happens the first time alone. */
function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}

function createQueue(slots: number): Queue {
  const ahead = new Set<() => void>();
  const behind = new Set<() => void>();
  let free = Math.max(1, slots);
  const admitNext = () => {
    const waiting = ahead.size > 0 ? ahead : behind;
    const [next] = waiting;
    if (next === undefined || free === 0) return;
    waiting.delete(next);
    free--;
    next();
  };
  const release = () => {
    free++;
    admitNext();
  };
  return {
    enter(signal, { first } = { first: false }) {
      const waiting = first ? ahead : behind;
      return abortableWait((enter) => {
        const admit = () => enter(once(release));
        waiting.add(admit);
        admitNext();
        return () => waiting.delete(admit);
      }, signal);
    },
  };
}
