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
  const containers = Map.groupBy(observed.containers, (each) => each.service);
  const runs = (name: string) =>
    containers.get(name)?.some(({ state }) => state === "running") === true;
  const lives = (name: string) =>
    (containers.get(name) ?? []).every(({ state }) => state === "running" || state === "paused");
  const followers = followersOf(desired);
  // Each is looked at again when one that it follows is to be replaced.
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

/** The services that follow each one, by its name. */
function followersOf(desired: readonly ReleaseService[]) {
  const pairs = desired.flatMap((service) =>
    Object.keys(service.follows).map((name) => ({ name, service }))
  );
  const groups = Map.groupBy(pairs, ({ name }) => name);
  return new Map([...groups].map(([name, each]) => [name, each.map(({ service }) => service)]));
}

function isNew({ action }: ServicePlan): boolean {
  return action === "create" || action === "recreate";
}
