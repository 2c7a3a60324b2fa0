import { type StackKey, withSequel } from "../model/mod.ts";
import { LEFT, type StackJudgement } from "../plan/mod.ts";
import type { Ledger } from "../record/mod.ts";

/** A stack that was judged, and the time of the next automatic attempt. */
interface Judged extends Pick<StackJudgement, "state" | "why"> {
  readonly key: StackKey;
  readonly retryAt: Date | undefined;
}

/**
 * The status of a stack with what happens next by itself: nothing, where it failed and its source `isLeft`, which
 * no time polls; or the time of the next decision, where it waits for a sync window.
 */
export function withNext<T extends Judged>(
  { deferred }: Pick<Ledger, "deferred">,
  status: T,
  isLeft: boolean,
): T {
  const { key, state, retryAt, why } = status;
  if (isLeft && state === "failed" && retryAt === undefined) {
    return { ...status, why: withSequel(why, LEFT) };
  }
  const waiting = state === "waiting" ? deferred.get(key) : undefined;
  if (waiting === undefined) return status;
  return { ...status, why: `${why}; it is kept`, retryAt: waiting.retryAt ?? retryAt };
}
