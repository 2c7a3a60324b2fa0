import { atEnd } from "./at_end.ts";
import type { Clock } from "./clock.ts";

/** The promise, or a rejection with the signal's reason as soon as it is aborted. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      promise.catch(() => {});
      return reject(signal.reason);
    }
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/**
 * Waits at most `milliseconds` for a promise; returns whether it settled in that time. Rejects as the
 * promise does, or with the signal's reason as soon as it is aborted.
 */
export async function within(
  promise: Promise<unknown>,
  milliseconds: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(milliseconds, timer.signal).then(() => false, () => false);
  // A reason avoids the costly default exception with its stack.
  using _ = atEnd(() => timer.abort("settled"));
  return await abortable(Promise.race([promise.then(() => true), late]), signal);
}
