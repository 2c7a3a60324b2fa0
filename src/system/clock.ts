/** Time as a port: everything that asks what time it is, or waits, gets one of these. */
export interface Clock {
  /** The current instant. */
  now(): Date;
  /**
   * Waits. Rejects with the signal's reason as soon as it is aborted, also when it already was; the
   * timer never outlives the wait.
   */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

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
      }, milliseconds);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  },
};
