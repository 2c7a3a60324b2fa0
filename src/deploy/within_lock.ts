import { formatStackKey, type StackKey, StackwrightError } from "../model/mod.ts";
import { type Clock, type KeyedLock, withDeadline } from "../system/mod.ts";

/** Something that a person asks to be done to what runs under a name. */
export interface Bounded {
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
    const why = locked
      ? `not done within ${timeoutSeconds} s; what was under way on the engine goes on`
      : `a deployment was under way for all of the ${timeoutSeconds} s`;
    return new StackwrightError("timeout", `${what} ${key.name}: ${why}`);
  };
  return await withDeadline(
    { clock, milliseconds: timeoutSeconds * 1000, late },
    async (within) =>
      await stackLock.run(formatStackKey(key), () => {
        locked = true;
        return work(within);
      }, within),
    signal,
  );
}
