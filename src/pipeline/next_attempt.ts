import { decideRetry } from "../plan/mod.ts";
import type { FailureRecord } from "../record/mod.ts";
import type { PipelineParts } from "./parts.ts";
import type { Target } from "../prepare/mod.ts";

/**
 * The time at which a target that a webhook was about, and that failed, is tried again by itself:
 * nothing when its retries are used up, or when no failure was remembered since `before`, for then
 * it was not the release that failed. What is polled is tried again by a poll, whose time is not
 * known here.
 */
export function again(
  { ledger, clock }: PipelineParts,
  { key, trigger, deployment, declared }: Target,
  before?: FailureRecord,
): { readonly retryAt?: Date } {
  const failure = ledger.failures.get(key);
  if (trigger !== "webhook" || failure === undefined) return {};
  if (before?.release === failure.release && before.failures === failure.failures) return {};
  const now = clock.now();
  const decided = decideRetry({
    release: failure.release,
    failure,
    retry: deployment.retry,
    delayGiven: declared.given.has("retry.delay"),
    origin: "automatic",
    now,
  });
  if (decided.kind === "attempt") return { retryAt: now };
  return decided.reason === "delay" ? { retryAt: decided.retryAt } : {};
}
