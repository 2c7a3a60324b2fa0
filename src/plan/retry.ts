import type { FailureRecord, Origin, RetryOptions } from "../model/mod.ts";

/** Facts that a retry is judged by. */
export interface RetryInput {
  /** Digest of the release that would be attempted. */
  readonly release: string;
  readonly failure: Omit<FailureRecord, "message"> | undefined;
  readonly retry: RetryOptions;
  /** Whether the author set a delay, 0 included; else attempts back off by themselves. */
  readonly delayGiven: boolean;
  readonly origin: Origin;
  readonly now: Date;
}

/** A verdict on an attempt at a release now. */
export type RetryDecision =
  | { readonly kind: "attempt"; readonly isRetry: boolean }
  | { readonly kind: "wait"; readonly reason: "delay"; readonly retryAt: Date }
  | { readonly kind: "wait"; readonly reason: "budget_exhausted" };

/** Shortest and longest pause between automatic attempts of one bad release, in seconds. */
const BACK_OFF_SECONDS = { first: 10, longest: 15 * 60 } as const;

/**
 * Decides whether a release that failed before may be tried again. Another release starts fresh, and a manual attempt is always made.
 */
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
  const retryAt = new Date(failure.lastFailedAt.getTime() + seconds * 1000);
  if (input.now < retryAt) return { kind: "wait", reason: "delay", retryAt };
  return { kind: "attempt", isRetry: true };
}

/**
 * Seconds to wait after a release failed `failures` times: doubling, up to a quarter of an hour.
 */
export function backOffSeconds(failures: number): number {
  const doubled = BACK_OFF_SECONDS.first * 2 ** Math.max(0, failures - 1);
  return Math.min(doubled, BACK_OFF_SECONDS.longest);
}
