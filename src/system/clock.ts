/** Time as a port: everything that asks what time it is, or waits, gets one of these. */
export interface Clock {
  /** The current instant. */
  now(): Date;
  /**
   * Waits. Rejects with the signal's reason as soon as it is aborted, also when it already was; the
   * timer never outlives the wait. Waits of more than 24 days are over sooner.
   */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The longest time of a timer, 24 days: one that is longer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep(milliseconds, signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      }, Math.min(milliseconds, LONGEST_MS));
      signal.addEventListener("abort", onAbort, { once: true });
    });
  },
};
