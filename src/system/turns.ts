import type { Clock } from "./clock.ts";
import { createFairLimiter } from "./fair_limiter.ts";

/**
 * Turns for pieces of work that hold the whole process up while they run, as parsing a file does: one
 * piece at a time in the process, and whatever they took, everything else gets as much time after them.
 */
export interface Turns {
  /** The result of a piece in its turn. Rejects with what it throws, and while it waits with the signal. */
  take<T>(piece: () => T, signal: AbortSignal): Promise<T>;
  /** The same turns on behalf of a source: sources take turns, whatever each of them has waiting. */
  by(who: string): Turns;
}

/** Milliseconds of work after which others get their time: shorter pieces go on at once. */
const QUICK_MS = 10;
/** Longest time for others, in milliseconds. */
const LONGEST_MS = 1000;

/**
 * Makes the turns of a process. A pause in each piece of work is not enough ({@link createPauses}): where
 * several go on at the same time, the pause of one is the turn of the next, and what they await may be
 * there already, so that promises follow each other without an end and nothing else is ever looked at.
 */
export function createTurns(clock: Pick<Clock, "now" | "sleep">): Turns {
  const limiter = createFairLimiter(1);
  const never = new AbortController().signal;
  let worked = 0;
  const run = async (piece: () => void) => {
    const began = clock.now().getTime();
    piece();
    worked += Math.max(0, clock.now().getTime() - began);
    if (worked < QUICK_MS) return;
    const rest = Math.min(worked, LONGEST_MS);
    worked = 0;
    // Who had the piece goes on meanwhile; the next piece waits.
    await clock.sleep(rest, never);
  };
  const by = (who: string): Turns => ({
    by,
    take: (piece, signal) =>
      new Promise((resolve, reject) => {
        const settle = () => {
          try {
            resolve(piece());
          } catch (error) {
            reject(error);
          }
        };
        limiter.run(who, () => run(settle), signal).catch(reject);
      }),
  });
  return by("");
}
