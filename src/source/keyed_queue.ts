/** Lets one task at a time pass for each key, in the order they came. */
export interface KeyedQueue {
  /**
   * Runs `task` when all earlier tasks of the key ended. Rejects with the signal's reason, and never
   * starts the task, when the signal is aborted while it waits.
   */
  run<T>(key: string, signal: AbortSignal, task: () => Promise<T>): Promise<T>;
}

/** A queue in which nobody waits yet. */
export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, signal, task) {
      const before = tails.get(key) ?? Promise.resolve();
      let leave = () => {};
      const mine = new Promise<void>((resolve) => leave = resolve);
      const tail = before.then(() => mine);
      tails.set(key, tail);
      try {
        await abortable(before, signal);
        return await task();
      } finally {
        leave();
        if (tails.get(key) === tail) tails.delete(key);
      }
    },
  };
}

/** The promise, or a rejection with the signal's reason as soon as it is aborted. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      promise.catch(() => {});
      return reject(signal.reason);
    }
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
