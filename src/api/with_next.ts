import { type StackKey, withSequel } from "../model/mod.ts";
import { type LEFT, type StackJudgement, type StackState, UNPOLLED } from "../plan/mod.ts";
import type { Ledger } from "../record/mod.ts";

/** A stack that was judged, and the time of the next automatic attempt. */
interface Judged extends Pick<StackJudgement, "state" | "why"> {
  readonly key: StackKey;
  readonly retryAt: Date | undefined;
}

/** What is said of what happens next to a stack by itself; see {@link withNext}. */
export type NothingNext = typeof LEFT | typeof UNPOLLED;

/**
 * The status of a stack with what happens next by itself: nothing, where it failed and no time polls its source,
 * or where that is not polled any more; or the time of the next decision, where it waits for a sync window.
 */
export function withNext<T extends Judged>(
  { deferred }: Pick<Ledger, "deferred">,
  status: T,
  nothing: NothingNext | undefined,
): T {
  const { key, state, retryAt, why } = status;
  const isTold = nothing === UNPOLLED ? TOLD.includes(state) : state === "failed";
  if (nothing !== undefined && isTold && retryAt === undefined) {
    return { ...status, why: withSequel(why, nothing) };
  }
  const waiting = state === "waiting" ? deferred.get(key) : undefined;
  if (waiting === undefined) return status;
  return { ...status, why: `${why}; it is kept`, retryAt: waiting.retryAt ?? retryAt };
}

/** States of a stack that a look at its source would change, or may. */
const TOLD: readonly StackState[] = ["synced", "drifted", "failed", "waiting"];
