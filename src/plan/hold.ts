import {
  endOfOutput,
  type FailureRecord,
  type Plan,
  type ServicePlan,
  type SkipReason,
  wholeSeconds,
} from "../model/mod.ts";
import type { RetryDecision } from "./retry.ts";

/** The reason why a release that its source wants is not deployed now. */
export interface Hold {
  readonly reason: SkipReason;
  readonly message: string;
  /** What would be done to each service, where that is known. */
  readonly services: readonly ServicePlan[];
  /** Time at which an automatic attempt may be made again. */
  readonly retryAt?: Date;
}

/**
 * The hold of a stack that a person paused, for the reason in `message`. `by` names a hold that the
 * ledger keeps; it is empty for a pause in the configuration.
 */
export function pausedHold(message: string, by = ""): Hold {
  return { reason: by === "" ? "paused" : `paused: ${by}`, message, services: [] };
}

/** The hold of a release, or another `attempt`, that may not be tried again now; of its output the last line is told. */
export function retryHold(
  retry: RetryDecision & { readonly kind: "wait" },
  failure: string | undefined,
  { message, services }: Omit<Plan, "kind">,
  attempt = "this release",
): Hold {
  const later = retry.reason === "delay"
    ? `before ${wholeSeconds(retry.retryAt)}`
    : "automatically";
  const why = endOfOutput(failure ?? "its failure is forgotten");
  return {
    reason: retry.reason,
    message: `${attempt} failed before (${why}), and is not tried again ${later}: ${message}`,
    services,
    ...(retry.reason === "delay" ? { retryAt: retry.retryAt } : {}),
  };
}

/** What is said of something that failed, whose source no time polls. */
export const LEFT = "nothing tries it again by itself, only a push or a person does";

/** What is said of a stack whose source was polled, and is no more. */
export const UNPOLLED = "nothing polls its source any more, so no commit changes or removes it";

/**
 * What a plan says of a release, or another `attempt`, that failed before, to end its sentence with: how
 * often, why, and by the verdict on an automatic attempt when the service tries it again by itself. Of a
 * source that `isLeft`, which no time polls, it never does.
 */
export function failedBefore(
  { failures, byHand, message }: FailureRecord,
  again: RetryDecision,
  { attempt = "this release", isLeft = false }: {
    readonly attempt?: string;
    readonly isLeft?: boolean;
  } = {},
): string {
  const times = failures + byHand;
  const next = again.kind === "wait" && again.reason !== "delay"
    ? "it is not tried again automatically"
    : isLeft
    ? LEFT
    : again.kind === "attempt"
    ? "the next poll or webhook tries it again"
    : `the first poll or webhook after ${wholeSeconds(again.retryAt)} tries it again`;
  const often = times === 1 ? "once" : `${times} times`;
  return `; ${attempt} failed ${often} (${endOfOutput(message)}); ${next}`;
}
