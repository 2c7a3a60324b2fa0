/** A slot among those that work at once, which its holder may lend to others while it only waits. */
export interface Slot {
  /** Gives the slot away; nothing when it is not held. */
  leave(): void;
  /**
   * Waits until the slot is held again, ahead of whoever never had one; nothing when it is held.
   * Rejects with the signal's reason.
   */
  takeAgain(signal: AbortSignal): Promise<void>;
}

/** Lets a bounded number of pieces of work run at once; the others wait in order of arrival. */
export interface Limiter {
  /** Runs `work` when a slot is free. Rejects with the signal's reason while still waiting. */
  run<T>(work: (slot: Slot) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** A limiter with `slots` slots (at least one). */
export function createLimiter(slots: number): Limiter {
  const queue = createQueue(slots);
  return {
    async run(work, signal) {
      let leave: (() => void) | undefined = await queue.enter(signal);
      const slot: Slot = {
        leave() {
          leave?.();
          leave = undefined;
        },
        async takeAgain(within) {
          leave ??= await queue.enter(within, { first: true });
        },
      };
      try {
        return await work(slot);
      } finally {
        slot.leave();
      }
    },
  };
}

/** One limiter of a single slot per key: work on one key never overlaps, other keys are free. */
export interface KeyedLock {
  /** Runs `work` when nothing else runs under `key`. Rejects with the signal's reason while waiting. */
  run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** A lock of which can be told whether somebody holds it, or waits for it, at this moment. */
export interface WatchableLock extends KeyedLock {
  isBusy(key: string): boolean;
}

/** A lock that nobody holds. Keys nobody waits for take no memory. */
export function createKeyedLock(): WatchableLock {
  const limiters = new Map<string, { readonly limiter: Limiter; users: number }>();
  return {
    isBusy: (key) => limiters.has(key),
    async run(key, work, signal) {
      const entry = limiters.get(key) ?? { limiter: createLimiter(1), users: 0 };
      limiters.set(key, entry);
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
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => {
          // A waiter that gives up must not be handed the slot later: it would be lost.
          waiting.delete(admit);
          reject(signal.reason);
        };
        const admit = () => {
          signal.removeEventListener("abort", onAbort);
          resolve(once(release));
        };
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.add(admit);
        admitNext();
      });
    },
  };
}
