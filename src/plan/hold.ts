import type { Plan, ServicePlan, SkipReason } from "../model/mod.ts";
import type { RetryDecision } from "./retry.ts";

/** The reason why what a source wants is not deployed now. */
export interface Hold {
  readonly reason: SkipReason;
  readonly message: string;
  /** What would be done to each service, where that is known. */
  readonly services: readonly ServicePlan[];
  /** Time at which an automatic attempt may be made again. */
  readonly retryAt?: Date;
}

/**
 * The hold of what a person said must wait, for the reason in `message`; `by` is what lasts only as
 * long as the ledger says so, and nothing for what the configuration says.
 */
export function pausedHold(message: string, by = ""): Hold {
  return { reason: by === "" ? "paused" : `paused: ${by}`, message, services: [] };
}

/** The hold of a release that failed before, for what its `failure` said, and may not be tried now. */
export function retryHold(
  retry: RetryDecision & { readonly kind: "wait" },
  failure: string | undefined,
  { message, services }: Plan,
): Hold {
  const later = retry.reason === "delay"
    ? `before ${retry.retryAt.toISOString()}`
    : "automatically";
  return {
    reason: retry.reason,
    message: `this release failed before (${failure}); ${message} is not tried again ${later}`,
    services,
    ...(retry.reason === "delay" ? { retryAt: retry.retryAt } : {}),
  };
}
