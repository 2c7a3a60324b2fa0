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

/**
 * Keys whose last release is remembered; marks are compared within seconds. Engines of other contexts
 * name stacks of jobs, and these are locked.
 */
const MOST_KEYS = 10_000;

/** A lock that nobody holds. */
export function createWatchedLock(): WatchedLock {
  const lock = createKeyedLock();
  const releases = new Map<string, number>();
  let count = 0;
  /** The last release that was forgotten: any key may have had it. */
  let forgotten = 0;
  const note = (key: string) => {
    releases.delete(key);
    releases.set(key, ++count);
    const [oldest] = releases.size > MOST_KEYS ? releases : [];
    if (oldest === undefined) return;
    releases.delete(oldest[0]);
    forgotten = oldest[1];
  };
  return {
    run: (key, work, signal) =>
      lock.run(key, async () => {
        try {
          return await work();
        } finally {
          note(key);
        }
      }, signal),
    mark: () => count,
    wasReleasedSince: (key, mark) => (releases.get(key) ?? forgotten) > mark,
  };
}
