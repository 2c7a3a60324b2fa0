import { abortableWait } from "./abortable_wait.ts";

/** Time as a port: everything that asks what time it is, or waits, gets one of these. */
export interface Clock {
  now(): Date;
  /**
   * Milliseconds since some moment, for durations and their ends: no setting of the clock moves it, and while
   * the machine sleeps it stands still.
   */
  uptime(): number;
  /** Waits; rejects with the reason of a signal that is, or was, aborted. The timer never outlives the wait. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The longest time of a timer, 24 days: one that is longer fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = createSystemClock(LONGEST_MS);

/** The real clock with timers of at most `longestMs`: longer waits take one after the other. */
export function createSystemClock(longestMs: number): Clock {
  return {
    now: () => new Date(),
    uptime: () => performance.now(),
    async sleep(milliseconds, signal) {
      let rest = milliseconds;
      for (; rest > longestMs; rest -= longestMs) await sleepOnce(longestMs, signal);
      await sleepOnce(rest, signal);
    },
  };
}

function sleepOnce(milliseconds: number, signal: AbortSignal): Promise<void> {
  return abortableWait((end) => {
    const timer = setTimeout(end, milliseconds);
    return () => clearTimeout(timer);
  }, signal);
}

/** A clock whose sleep lasts until `clock` shows the end time, even if its own sleeps end early. */
export function sleepingUntil(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    uptime: () => clock.uptime(),
    async sleep(milliseconds, signal) {
      const end = clock.now().getTime() + milliseconds;
      for (let left = milliseconds; left > 0; left = end - clock.now().getTime()) {
        await clock.sleep(Math.max(left, SHORTEST_MS), signal);
      }
    },
  };
}

/** Shortest single sleep in milliseconds, to avoid a busy loop before the end. */
const SHORTEST_MS = 1000;
