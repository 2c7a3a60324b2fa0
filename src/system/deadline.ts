import type { Clock } from "./clock.ts";

/** Reason for ending the timer, which is never shown. */
const OVER = "over";

/**
 * Runs work for at most `milliseconds`; then aborts its signal with the error of `late`, and throws that
 * error if the work fails. The caller's signal aborts the work as usual.
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
    // A reason avoids the costly default exception with its stack.
    timer.abort(OVER);
    await alarm;
  }
}
