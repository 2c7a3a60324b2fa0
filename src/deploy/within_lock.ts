import { errors, formatStackKey, type StackKey, type StackwrightError } from "../model/mod.ts";
import { type Clock, type KeyedLock, withDeadline } from "../system/mod.ts";

/** An action that a person asks for on a project or stack. */
interface Bounded {
  readonly key: StackKey;
  /** Noun for errors: `project`, `stack`. */
  readonly what: string;
  /** Seconds it may take, including the wait for the lock. */
  readonly timeoutSeconds: number;
}

/** What actions on a project or stack wait with. */
export interface LockParts {
  readonly clock: Clock;
  readonly stackLock: KeyedLock;
  /** Waits until no other process is changing a stack: the lock is this process's. */
  readonly othersDone: (key: StackKey, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs work while it holds a stack's lock, and no other process changes the stack. Returns and throws what
 * the work does, and throws `timeout`, which says whether the work had begun.
 */
export async function withinLock<Result>(
  { clock, stackLock, othersDone }: LockParts,
  { key, what, timeoutSeconds }: Bounded,
  work: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  let locked = false;
  const late = () => {
    if (!locked) return lateForLock({ key, what, timeoutSeconds });
    const why = `not done within ${timeoutSeconds} s; what was under way on the engine goes on; ` +
      "look at what runs, and ask again with a larger timeout";
    return errors.timeout(`${what} ${key.name}: ${why}`);
  };
  const run = (within: AbortSignal) =>
    stackLock.run(formatStackKey(key), async () => {
      await othersDone(key, within);
      locked = true;
      return await work(within);
    }, within);
  return await withDeadline({ clock, milliseconds: timeoutSeconds * 1000, late }, run, signal);
}

/**
 * Runs work as {@link withinLock} does, but bounds only the wait for the lock: work that has begun
 * runs to its end. The work gets the bounding signal for waits of its own, such as for other processes.
 */
export async function onceLocked<Result>(
  { clock, stackLock }: Pick<LockParts, "clock" | "stackLock">,
  { key, what, timeoutSeconds }: Bounded,
  work: (waiting: AbortSignal) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const late = () => lateForLock({ key, what, timeoutSeconds });
  const run = (within: AbortSignal) =>
    stackLock.run(formatStackKey(key), () => Promise.allSettled([work(within)]), within);
  // The work's own failure is kept apart from that of the wait, which has a deadline.
  const [end] = await withDeadline(
    { clock, milliseconds: timeoutSeconds * 1000, late },
    run,
    signal,
  );
  if (end.status === "rejected") throw end.reason;
  return end.value;
}

function lateForLock({ key, what, timeoutSeconds }: Bounded): StackwrightError {
  return errors.timeout(
    `${what} ${key.name}: nothing was done: a deployment of it, a scheduled job or another action was ` +
      `under way for all of the ${timeoutSeconds} s; ask again later, or with a larger timeout`,
  );
}
