import { readiness } from "../deploy/mod.ts";
import type { ObservedStack, Plan, Release } from "../model/mod.ts";
import { summarise } from "../plan/mod.ts";

/** What is known of the attempts before. */
export interface EarlierAttempts {
  /** Digest of the release that failed last and was not followed by a success. */
  readonly failed: string | undefined;
  /** Digest of the release that was deployed last. */
  readonly deployed: string | undefined;
  readonly observed: ObservedStack;
}

/**
 * Containers that a failed release left behind carry its digests, so comparing digests finds nothing
 * to do, or to start what ended. That is no success: what does not work is replaced when the release
 * is attempted again.
 */
export function planAfterFailure(
  release: Pick<Release, "digest" | "services">,
  plan: Plan,
  earlier: EarlierAttempts,
): Plan {
  if (plan.kind === "destroy" || earlier.failed !== release.digest) return plan;
  if (earlier.deployed === release.digest) return plan;
  const services = plan.services.map((each) => {
    const service = release.services.find(({ name }) => name === each.name);
    if (each.action !== "keep" && each.action !== "start") return each;
    if (service === undefined || readiness([service], earlier.observed).kind === "ready") {
      return each;
    }
    const because = ["it did not work when this release was attempted before"];
    return { name: each.name, action: "recreate" as const, because };
  });
  const changes = services.filter((each) => each.action !== "keep");
  return changes.length === 0 ? plan : { kind: "deploy", message: summarise(changes), services };
}
