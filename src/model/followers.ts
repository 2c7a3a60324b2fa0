import type { ObservedStack } from "./observed.ts";
import type { ServicePlan } from "./plan.ts";
import type { ReleaseService } from "./release.ts";

/** Start of a reason in {@link ReleaseService.follows} for a shared namespace. */
export const SHARES = "shares the";

/**
 * Adds the followers to plans: services that share something with a replaced service are recreated too,
 * along whole chains. A running container whose namespace owner is started again is recreated as well,
 * since it would stay in the dead namespace. One that was only paused or renamed keeps it.
 */
export function withFollowers(
  plans: readonly ServicePlan[],
  desired: readonly ReleaseService[],
  observed: ObservedStack,
): ServicePlan[] {
  const byName = new Map(plans.map((each) => [each.name, each]));
  const containers = Map.groupBy(observed.containers, (each) => each.service);
  const runs = (name: string) =>
    containers.get(name)?.some(({ state }) => state === "running") === true;
  const lives = (name: string) =>
    (containers.get(name) ?? []).every(({ state }) => state === "running" || state === "paused");
  const followers = followersOf(desired);
  // A service is looked at again when one that it follows has become one to recreate.
  let open = new Set(desired);
  while (open.size > 0) {
    const next = new Set<ReleaseService>();
    for (const service of desired.filter((each) => open.has(each))) {
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
      for (const each of followers.get(service.name) ?? []) next.add(each);
    }
    open = next;
  }
  return [...byName.values()];
}

/** The followers of each service, by the name of the followed one. */
function followersOf(desired: readonly ReleaseService[]) {
  const pairs = desired.flatMap((service) =>
    Object.keys(service.follows).map((name) => ({ name, service }))
  );
  const groups = Map.groupBy(pairs, ({ name }) => name);
  return new Map([...groups].map(([name, each]) => [name, each.map(({ service }) => service)]));
}

/** Whether a plan makes new containers of a service. */
export function isNew({ action }: ServicePlan): boolean {
  return action === "create" || action === "recreate";
}
