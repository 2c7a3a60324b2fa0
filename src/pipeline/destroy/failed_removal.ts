import {
  askingSource,
  type FailureRecord,
  isStackwrightError,
  messageOf,
  type Plan,
  REMOVAL,
  type StackKey,
} from "../../model/mod.ts";
import {
  decideRetry,
  failedBefore,
  type Hold,
  type RetryDecision,
  retryHold,
  UNTIL_DONE,
} from "../../plan/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import { nextAttempt, paceOf } from "../hold.ts";
import type { PipelineParts } from "../parts.ts";

/** A source's wish to remove a stack, and how its retries are paced. */
export interface RemovalWish extends ReturnType<typeof paceOf> {
  readonly source: string;
}

/** The wish of a target with `destroy`, whose configuration sets the pace as for its releases. */
export function removalWish(target: Target): RemovalWish {
  return { source: askingSource(target), ...paceOf(target) };
}

/** The wish of a source that does not name a stack any more: tried without an end, after growing pauses. */
export function wishOfSource(
  { source, origin }: Pick<RemovalWish, "source" | "origin">,
): RemovalWish {
  return { source, origin, ...UNTIL_DONE };
}

/** The hold of a removal that failed before and may not be tried again now; `undefined` for others. */
export function removalHold(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  wish: RemovalWish,
  plan: Omit<Plan, "kind">,
): Hold | undefined {
  const failed = failedRemoval({ ledger, clock }, key, wish);
  if (failed === undefined || failed.retry.kind === "attempt") return undefined;
  return retryHold(failed.retry, failed.failure.message, plan, ITS_REMOVAL);
}

/** What a plan says of a removal that failed before, as {@link failedBefore}; empty for others. */
export function removalFailedBefore(
  parts: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  wish: RemovalWish,
): string {
  const failed = failedRemoval(parts, key, { ...wish, origin: "automatic" });
  return failed === undefined
    ? ""
    : failedBefore(failed.failure, failed.retry, { attempt: ITS_REMOVAL });
}

/** The time at which the removal of a stack that nothing names any more, and that failed, is tried again. */
export function removalAgain(
  parts: Pick<PipelineParts, "ledger" | "clock" | "options">,
  key: StackKey,
  { wish, ...asked }: Parameters<typeof nextAttempt>[1] & { readonly wish: RemovalWish },
): { readonly retryAt?: Date } {
  const failed = failedRemoval(parts, key, { ...wish, origin: "automatic" });
  return nextAttempt(parts, asked, failed?.retry);
}

const ITS_REMOVAL = "its removal";

/** The recorded failure of a removal, and the verdict on the next attempt; `undefined` for others. */
function failedRemoval(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  { source, ...asked }: RemovalWish,
): { readonly failure: FailureRecord; readonly retry: RetryDecision } | undefined {
  const failure = ledger.failures.get(key, source);
  if (failure?.release !== REMOVAL) return undefined;
  const retry = decideRetry({ ...asked, release: REMOVAL, failure, now: clock.now() });
  return { failure, retry };
}

/**
 * Does the removal of a stack, and records its failure for {@link removalHold}. Exempt are, as for
 * releases, an engine that is away, and a stack that is another owner's or held by now.
 */
export async function rememberingRemoval<T>(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  { source, origin }: Pick<RemovalWish, "source" | "origin">,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const automatic = origin === "automatic";
  const isRetry = ledger.failures.get(key, source)?.release === REMOVAL;
  if (automatic && isRetry) ledger.failures.countAttempt(key);
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const isExempt = isStackwrightError(error, "engine_unreachable") ||
      isStackwrightError(error, "conflict");
    if (isExempt) throw error;
    const failure = { release: REMOVAL, source, message: messageOf(error), at: clock.now() };
    ledger.failures.fail(key, { ...failure, automatic });
    throw error;
  }
}
