import type { Clock } from "./clock.ts";

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
  const alarm = clock.sleep(milliseconds, AbortSignal.any([timer.signal, signal])).then(
    () => end.abort(late()),
    () => {},
  );
  try {
    return await work(AbortSignal.any([signal, end.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (end.signal.aborted) throw end.signal.reason;
    throw error;
  } finally {
    timer.abort();
    await alarm;
  }
}
