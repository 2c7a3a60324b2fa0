import type { Clock } from "../system/mod.ts";

/** Longest single sleep, since the clock may be set in between. */
const LONGEST_SLEEP_MS = 10 * 60 * 1000;
/** How far a clock may be set back without notice: what was due in that time has been done. */
const UNNOTICED_MS = 60_000;

/**
 * Sleeps until the clock shows an instant, in milliseconds since 1970. Returns 0 then, or as soon as
 * it is noticed that the clock was set back, by how many milliseconds. Throws the signal's reason.
 */
export async function sleepUntil(clock: Clock, at: number, signal: AbortSignal): Promise<number> {
  for (let now = clock.now().getTime(); now < at;) {
    const pause = Math.min(at - now, LONGEST_SLEEP_MS);
    await clock.sleep(pause, signal);
    const expected = now + pause;
    now = clock.now().getTime();
    if (expected - now > UNNOTICED_MS) return expected - now;
  }
  return 0;
}
