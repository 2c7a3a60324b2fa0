import type { ObservedStack } from "./observed.ts";
import type { ServicePlan } from "./plan.ts";
import type { ReleaseService } from "./release.ts";

/** The beginning of a reason in {@link ReleaseService.follows} when a namespace is shared. */
export const SHARES = "shares the";

/**
 * The plans with those of followers: services that share something with a replaced one are replaced
 * too, however long the chain. A running container that shares a namespace of one that is started
 * again would stay in the dead one for ever, so it is replaced as well; one that was only paused or
 * renamed still has its own.
 */
export function withFollowers(
  plans: readonly ServicePlan[],
  desired: readonly ReleaseService[],
  observed: ObservedStack,
): ServicePlan[] {
  const byName = new Map(plans.map((each) => [each.name, each]));
  const runs = (name: string) =>
    observed.containers.some((each) => each.service === name && each.state === "running");
  const lives = (name: string) =>
    observed.containers.filter((each) => each.service === name).every((each) =>
      each.state === "running" || each.state === "paused"
    );
  for (let changed = true; changed;) {
    changed = false;
    for (const service of desired) {
      const plan = byName.get(service.name);
      if (plan === undefined || isNew(plan) || service.expectation.replicas === 0) continue;
      const because = Object.entries(service.follows).flatMap(([name, reason]) => {
        const followed = byName.get(name);
        if (followed !== undefined && isNew(followed)) {
          return [`${reason}, and ${name} is replaced`];
        }
        return followed?.action === "start" && !lives(name) && reason.startsWith(SHARES) &&
            runs(service.name)
          ? [`${reason}, and ${name} is started again`]
          : [];
      });
      if (because.length === 0) continue;
      byName.set(service.name, { name: service.name, action: "recreate", because });
      changed = true;
    }
  }
  return [...byName.values()];
}

function isNew({ action }: ServicePlan): boolean {
  return action === "create" || action === "recreate";
}
