import { errors, formatStackKey, type StackKey, type StackwrightError } from "../model/mod.ts";
import { type Clock, type KeyedLock, withDeadline } from "../system/mod.ts";

/** Something that a person asks to be done to what runs under a name. */
interface Bounded {
  readonly key: StackKey;
  /** What it is called in errors: `project`, `stack`. */
  readonly what: string;
  /** Seconds it may take, waiting for the lock included. */
  readonly timeoutSeconds: number;
}

/**
 * Does work while nothing else is done to a stack. Returns what it returns; throws what it throws, and
 * `timeout`, which says whether the work had begun.
 */
export async function withinLock<Result>(
  { clock, stackLock }: { readonly clock: Clock; readonly stackLock: KeyedLock },
  { key, what, timeoutSeconds }: Bounded,
  work: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let locked = false;
  const late = () => {
    if (!locked) return lateForLock({ key, what, timeoutSeconds });
    const why = `not done within ${timeoutSeconds} s; what was under way on the engine goes on`;
    return errors.timeout(`${what} ${key.name}: ${why}`);
  };
  const run = (within: AbortSignal) =>
    stackLock.run(formatStackKey(key), () => {
      locked = true;
      return work(within);
    }, within);
  return await withDeadline({ clock, milliseconds: timeoutSeconds * 1000, late }, run, signal);
}

/**
 * The same where only the wait for others is bounded: work that has begun goes on to its end. It gets the
 * signal that bounds what it still waits for.
 */
export async function onceLocked<Result>(
  { clock, stackLock }: { readonly clock: Clock; readonly stackLock: KeyedLock },
  { key, what, timeoutSeconds }: Bounded,
  work: (waiting: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const late = () => lateForLock({ key, what, timeoutSeconds });
  const run = (within: AbortSignal) =>
    stackLock.run(formatStackKey(key), () => Promise.allSettled([work(within)]), within);
  // Its end is kept apart from that of the wait, which has a deadline.
  const [end] = await withDeadline(
    { clock, milliseconds: timeoutSeconds * 1000, late },
    run,
    signal,
  );
  if (end.status === "rejected") throw end.reason;
  return end.value;
}

function lateForLock({ key, what, timeoutSeconds }: Bounded): StackwrightError {
  const why = `a deployment was under way for all of the ${timeoutSeconds} s`;
  return errors.timeout(`${what} ${key.name}: ${why}`);
}
