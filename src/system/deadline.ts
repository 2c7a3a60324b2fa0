import type { Clock } from "./clock.ts";

/** Reason for ending the timer, which is never shown. */
const OVER = "over";

/** Runs a wait that a limit does not count, such as one for work of others. */
export type Apart = <T>(wait: () => Promise<T>) => Promise<T>;

/** Shortest time in milliseconds until another look while the work waits, to avoid a busy loop. */
const LOOK_MS = 1000;

/** The time that waits took, of which several may go on at once. */
class WaitedTime {
  readonly #clock: Clock;
  #since = 0;
  #milliseconds = 0;
  /** Number of waits that go on. */
  under = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async apart<T>(wait: () => Promise<T>): Promise<T> {
    if (this.under++ === 0) this.#since = this.#clock.uptime();
    try {
      return await wait();
    } finally {
      this.#count();
      this.under--;
    }
  }

  /** The milliseconds since the last call. */
  take(): number {
    this.#count();
    const taken = this.#milliseconds;
    this.#milliseconds = 0;
    return taken;
  }

  #count(): void {
    const now = this.#clock.uptime();
    if (this.under > 0) this.#milliseconds += now - this.#since;
    this.#since = now;
  }
}

/**
 * Clears up for at most so many milliseconds after what was ended: by no signal, since that ended it, and
 * without a word of a failure, since that is told already.
 */
export async function clearingUp(
  clock: Clock,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const late = () => new Error("it took too long");
  const { signal } = new AbortController();
  await withDeadline({ clock, milliseconds, late }, work, signal).catch(() => {});
}

/**
 * Runs work for at most `milliseconds`, besides the waits that it runs `apart`; then aborts its signal
 * with the error of `late`, and throws that error if the work fails. At the end `later` may give it so
 * many milliseconds more. The caller's signal aborts the work as usual.
 */
export async function withDeadline<T>(
  { clock, milliseconds, late, later = () => 0 }: {
    readonly clock: Clock;
    readonly milliseconds: number;
    readonly late: () => Error;
    readonly later?: () => number;
  },
  work: (signal: AbortSignal, apart: Apart) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const waited = new WaitedTime(clock);
  const ring = async () => {
    let left = milliseconds;
    do {
      await clock.sleep(left, timer.signal);
      const more = waited.take();
      left = Math.max(waited.under > 0 ? Math.max(more, LOOK_MS) : more, later());
    } while (left > 0);
    end.abort(late());
  };
  const end = new AbortController();
  const timer = new AbortController();
  const onAbort = () => end.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const alarm = ring().catch(() => {});
  try {
    return await work(end.signal, (wait) => waited.apart(wait));
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
