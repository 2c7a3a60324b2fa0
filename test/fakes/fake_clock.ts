import { setImmediate } from "node:timers";
import type { Clock } from "../../src/system/mod.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves time on, waking sleepers in the order they are due and letting what they started run on
   * before the next one, so that a sleeper that sleeps again is woken again.
   */
  advance(milliseconds: number): Promise<void>;
  /** Sets the clock on, or back with a negative number: sleepers sleep on as if nothing had been. */
  set(byMilliseconds: number): void;
  /** How many sleep now. */
  readonly sleepers: number;
}

/** A fake clock that shows `start` (ISO 8601). */
export function createFakeClock(start = "2026-03-10T11:00:00.123Z"): FakeClock {
  let now = Date.parse(start);
  let shift = 0;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  const next = (limit: number) =>
    [...sleepers].filter(({ at }) => at <= limit).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => new Date(now + shift),
    uptime: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        };
        const sleeper = {
          at: now + Math.max(0, milliseconds),
          wake: () => {
            sleepers.delete(sleeper);
            signal.removeEventListener("abort", onAbort);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener("abort", onAbort, { once: true });
      }),
    async advance(milliseconds) {
      const end = now + milliseconds;
      await settle();
      for (let due = next(end); due !== undefined; due = next(end)) {
        now = Math.max(now, due.at);
        due.wake();
        await settle();
      }
      now = end;
    },
    set(byMilliseconds) {
      shift += byMilliseconds;
    },
    get sleepers() {
      return sleepers.size;
    },
  };
}

/** Lets everything that is ready to run do so: a few turns of the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
