import type { FailureRecord, Origin, RetryOptions } from "../model/mod.ts";

/** Facts that decide about a retry. */
export interface RetryInput {
  /** Digest of the release that would be attempted. */
  readonly release: string;
  readonly failure: Omit<FailureRecord, "byHand" | "message"> | undefined;
  /** The time since when the attempt waits for its turn; by default it did not wait. */
  readonly since?: Date | undefined;
  readonly retry: RetryOptions;
  /** Whether the author set a delay, also 0; otherwise attempts back off exponentially. */
  readonly delayGiven: boolean;
  readonly origin: Origin;
  readonly now: Date;
}

/** The pace where no author sets one: attempts without an end, after growing pauses. */
export const UNTIL_DONE: Pick<RetryInput, "retry" | "delayGiven"> = {
  retry: { limit: undefined, delaySeconds: 0 },
  delayGiven: false,
};

/** The verdict on attempting a release now. */
export type RetryDecision =
  | { readonly kind: "attempt"; readonly isRetry: boolean }
  | { readonly kind: "wait"; readonly reason: "delay"; readonly retryAt: Date }
  | { readonly kind: "wait"; readonly reason: "budget_exhausted" };

/** First and longest pause between automatic attempts at a failed release, in seconds. */
const BACK_OFF_SECONDS = { first: 10, longest: 15 * 60 } as const;

/** Decides whether a release that failed may be tried again; others and manual tries always may. */
export function decideRetry(input: RetryInput): RetryDecision {
  const { failure, retry, origin } = input;
  if (failure === undefined || failure.release !== input.release) {
    return { kind: "attempt", isRetry: false };
  }
  if (origin === "manual") return { kind: "attempt", isRetry: false };
  if (retry.limit !== undefined && failure.automaticAttempts >= retry.limit) {
    return { kind: "wait", reason: "budget_exhausted" };
  }
  const seconds = input.delayGiven ? retry.delaySeconds : backOffSeconds(failure.failures);
  const { byHandAt } = failure;
  // What it waited for was a person's attempt at the same release: that moves no delay, and was this one.
  const isJustTried = byHandAt !== undefined && input.since !== undefined &&
    input.since <= byHandAt;
  const until = Math.max(
    endOfPause(failure.lastFailedAt, seconds, input.now),
    isJustTried ? endOfPause(byHandAt, BACK_OFF_SECONDS.first, input.now) : 0,
  );
  if (input.now.getTime() < until) {
    return { kind: "wait", reason: "delay", retryAt: new Date(until) };
  }
  return { kind: "attempt", isRetry: true };
}

/** The end of a pause after a failure, or 0: a failure in the future means that the clock was set back. */
function endOfPause(failedAt: Date, seconds: number, now: Date): number {
  return now < failedAt ? 0 : failedAt.getTime() + seconds * 1000;
}

/** Seconds to wait after a release failed `failures` times: doubling, to a quarter of an hour. */
export function backOffSeconds(failures: number): number {
  const doubled = BACK_OFF_SECONDS.first * 2 ** Math.max(0, failures - 1);
  return Math.min(doubled, BACK_OFF_SECONDS.longest);
}
