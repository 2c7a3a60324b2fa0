import type { Engine } from "../docker/engine.ts";
import {
  missingNetworks,
  type ObservedContainer,
  type ObservedStack,
  type ReleaseService,
  type ServicePlan,
  withFollowers,
} from "../model/mod.ts";

/**
 * The plans, with a replacement for each service that has a stopped container which cannot be
 * started: it was disconnected from a network, or the network was removed. A new network of that
 * name has another id, which the container does not know.
 */
export async function replaceLost(
  engine: Engine,
  plans: readonly ServicePlan[],
  { desired, observed }: {
    readonly desired: readonly ReleaseService[];
    readonly observed: ObservedStack;
  },
  signal: AbortSignal,
): Promise<readonly ServicePlan[]> {
  const wanted = desired.filter((each) => each.expectation.replicas > 0).map(({ name }) => name);
  const starting = plans.filter((each) => each.action === "start" || each.action === "scale")
    .map((each) => each.name).filter((name) => wanted.includes(name));
  const stopped = observed.containers.filter((each) =>
    each.state !== "running" && starting.includes(each.service)
  );
  if (stopped.length === 0) return plans;
  const ids = [...new Set(stopped.flatMap((each) => each.networkIds ?? []))];
  const networks = new Set((await engine.findNetworks(ids, signal)).map((each) => each.id));
  const isOut = (container: ObservedContainer) =>
    desired.some((each) =>
      each.name === container.service && missingNetworks(each, container).length > 0
    );
  const lost = stopped.filter((each) =>
    each.networkIds?.some((id) => !networks.has(id)) === true || isOut(each)
  );
  if (lost.length === 0) return plans;
  const changed = plans.map((plan): ServicePlan => {
    const container = lost.find((each) => each.service === plan.name);
    if (container === undefined || !starting.includes(plan.name)) return plan;
    const because = [`container ${container.name} was cut off from a network`];
    return { name: plan.name, action: "recreate", because };
  });
  return withFollowers(changed, desired, observed);
}
