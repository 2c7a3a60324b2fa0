import type { Clock } from "./clock.ts";

/** Why the timer ends; nobody sees it. */
const OVER = "over";

/**
 * Runs work for at most `milliseconds`: then its signal is aborted with what `late` makes, and that is
 * what the call throws, whatever the work makes of it. The caller's signal ends it as usual.
 */
export async function withDeadline<T>(
  { clock, milliseconds, late }: {
    readonly clock: Clock;
    readonly milliseconds: number;
    readonly late: () => Error;
  },
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const end = new AbortController();
  const timer = new AbortController();
  const onAbort = () => end.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const alarm = clock.sleep(milliseconds, timer.signal).then(() => end.abort(late()), () => {});
  try {
    return await work(end.signal);
  } catch (error) {
    signal.throwIfAborted();
    if (end.signal.aborted) throw end.signal.reason;
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Without a reason one is made, with a trace of all calls.
    timer.abort(OVER);
    await alarm;
  }
}
