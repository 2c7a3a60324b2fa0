import {
  askingSource,
  type FailureRecord,
  isStackwrightError,
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
import type { Attempt } from "../decide/remembering.ts";
import { type Attempted, nextAttempt, paceOf } from "../hold.ts";
import type { PipelineParts } from "../parts.ts";

/** A source's wish to remove a stack, and how its retries are paced. */
export type RemovalWish = Attempt;

/** A removal that is attempted, and why. */
export type AttemptedRemoval = Attempted & { readonly wish: RemovalWish };

/** What all removals share. Exempt is, besides an engine that is away, a stack that is another owner's or held by now. */
const A_REMOVAL = {
  release: REMOVAL,
  isExempt: (error: unknown) => isStackwrightError(error, "conflict"),
} as const;

/** The wish of a target with `destroy`, whose configuration sets the pace as for its releases. */
export function removalWish(target: Target): RemovalWish {
  return { ...A_REMOVAL, source: askingSource(target), ...paceOf(target) };
}

/** The wish of a source that does not name a stack any more: tried without an end, after growing pauses. */
export function wishOfSource(
  { source, origin }: Pick<RemovalWish, "source" | "origin">,
): RemovalWish {
  return { ...A_REMOVAL, source, origin, ...UNTIL_DONE };
}

/** The hold of a removal that failed before and may not be tried again now; `undefined` for others. */
export function removalHold(
  parts: Pick<PipelineParts, "ledger" | "clock" | "options">,
  key: StackKey,
  { wish, ...attempted }: AttemptedRemoval,
  plan: Omit<Plan, "kind">,
): Hold | undefined {
  const failed = failedRemoval(parts, key, wish);
  if (failed === undefined || failed.retry.kind === "attempt") return undefined;
  const hold = retryHold(failed.retry, failed.failure.message, plan, ITS_REMOVAL);
  return { ...hold, ...nextAttempt(parts, attempted, failed.retry) };
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
  { wish, ...attempted }: AttemptedRemoval,
): { readonly retryAt?: Date } {
  const failed = failedRemoval(parts, key, { ...wish, origin: "automatic" });
  return nextAttempt(parts, attempted, failed?.retry);
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
  const retry = decideRetry({ ...asked, failure, now: clock.now() });
  return { failure, retry };
}
