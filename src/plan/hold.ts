import {
  endOfOutput,
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
    message: `${attempt} failed before (${why}); ${message} is not tried again ${later}`,
    services,
    ...(retry.reason === "delay" ? { retryAt: retry.retryAt } : {}),
  };
}
