import { createKeyedLock, type KeyedLock } from "./limiter.ts";

/** A lock that also tells whether observations under a key may be out of date. */
export interface WatchedLock extends KeyedLock {
  /** This moment, to be compared with later. */
  mark(): number;
  /**
   * Whether `key` was released after `mark` was taken, so that earlier observations may be out of date.
   * A current holder does not count.
   */
  wasReleasedSince(key: string, mark: number): boolean;
}

/** A lock that nobody holds. It remembers a number for each key that was ever used. */
export function createWatchedLock(): WatchedLock {
  const lock = createKeyedLock();
  const releases = new Map<string, number>();
  let count = 0;
  return {
    run: (key, work, signal) =>
      lock.run(key, async () => {
        try {
          return await work();
        } finally {
          releases.set(key, ++count);
        }
      }, signal),
    mark: () => count,
    wasReleasedSince: (key, mark) => (releases.get(key) ?? 0) > mark,
  };
}
