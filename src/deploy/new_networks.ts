import { inOrder, objectAt, serviceOf } from "../compose/mod.ts";
import { isOneOff } from "../docker/containers.ts";
import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  errors,
  fewOf,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type ServicePlan,
  type StackwrightError,
  withFollowers,
} from "../model/mod.ts";
import type { ApplyStep } from "./apply_steps.ts";
import type { ChangedNetwork } from "./changed_networks.ts";
import { inServiceOrder } from "./in_service_order.ts";
import { isDown } from "./left_orphans.ts";

/** The plans, with a replacement for each service that uses a network to be made anew. */
export function withNewNetworks(
  plans: readonly ServicePlan[],
  networks: readonly ChangedNetwork[],
  { release, observed }: {
    readonly release: Pick<Release, "model" | "services">;
    readonly observed: ObservedStack;
  },
): readonly ServicePlan[] {
  if (networks.length === 0) return plans;
  const changed = plans.map((plan): ServicePlan => {
    const service = release.services.find((each) => each.name === plan.name);
    const used = objectAt(serviceOf(release.model, plan.name), "networks");
    const because = networks.filter(({ key }) => Object.hasOwn(used, key))
      .map(({ name, changed }) => `network ${name} is made anew, with another ${fewOf(changed)}`);
    const isNew = plan.action === "create" || plan.action === "remove";
    if (because.length === 0 || isNew || service?.expectation.replicas === 0) return plan;
    const before = plan.action === "recreate" ? plan.because : [];
    return { name: plan.name, action: "recreate", because: [...before, ...because] };
  });
  return withFollowers(changed, release.services, observed);
}

/**
 * Refuses to make networks anew while containers are connected that the plan neither replaces nor
 * removes, like those of other stacks, and runs of jobs or what a person runs once, such as a dump of a
 * database, until they have ended: they would be cut off. `containers` are all of the engine.
 *
 * Throws `conflict`, which says what to do instead.
 */
export function requireNoStrangers(
  networks: readonly ChangedNetwork[],
  containers: readonly ObservedContainer[],
  { release, services }: {
    readonly release: Pick<Release, "key" | "services">;
    readonly services: readonly ServicePlan[];
  },
): void {
  const ends = (name: string) =>
    release.services.find((each) => each.name === name)?.expectation.replicas === 0;
  const goes = new Set(
    services.filter(({ name, action }) =>
      action === "recreate" || action === "remove" || (action === "scale" && ends(name))
    ).map((each) => each.name),
  );
  const connected = membersOf(containers);
  for (const network of networks) {
    const strangers = (connected.get(network.id) ?? []).filter((each) =>
      each.labels[COMPOSE_LABELS.project] !== release.key.name || !goes.has(each.service) ||
      runsOnce(each)
    );
    if (strangers.length === 0) continue;
    const names = fewOf(strangers.map((each) => each.name).sort());
    const till = strangers.some(runsOnce) ? " (what runs once until it has ended)" : "";
    const are = strangers.length === 1 ? "is" : "are";
    throw refusal(network, `${names} ${are} connected to it${till}`);
  }
}

/** Whether a container runs once and has not ended: nobody makes it again, as a rollout does with the others. */
function runsOnce(container: ObservedContainer): boolean {
  return isOneOff(container) && !isDown(container);
}

/** Refuses changed networks, which cannot be made anew while it is as `why` says. Throws `conflict`. */
export function requireNoNewNetworks(
  networks: readonly ChangedNetwork[],
  why: "it is a swarm's" | "there is no earlier release of ours to go back to",
): void {
  const [first] = networks;
  if (first !== undefined) throw refusal(first, why);
}

function refusal({ key, name, changed }: ChangedNetwork, why: string): StackwrightError {
  return errors.conflict(
    `networks.${key}: network ${name} exists with another ${fewOf(changed)}, and cannot be ` +
      `made anew while ${why}, so nothing was touched; define the changed network under another ` +
      `key than ${key}, which replaces the services that use it, or remove what is connected and ` +
      `the network (docker network rm ${name}) and deploy again`,
  );
}

/**
 * The changed networks by the step that makes them anew, the first one with a service in them. Until
 * then they stay, with all who use them: what runs before, like a migration that others wait for, may
 * take long, and somebody else could take the name of a network that is gone. Under `undefined` are
 * those that no step makes.
 */
export function remadeBy(
  networks: readonly ChangedNetwork[],
  steps: readonly ApplyStep[],
  model: ComposeModel,
): ReadonlyMap<ApplyStep | undefined, readonly ChangedNetwork[]> {
  const first = new Map<string, ApplyStep>();
  for (const step of steps) {
    const services = step.kind === "up" ? Object.keys(step.scale) : [];
    for (const each of services) {
      for (const key of Object.keys(objectAt(serviceOf(model, each), "networks"))) {
        first.getOrInsert(key, step);
      }
    }
  }
  return Map.groupBy(networks, ({ key }) => first.get(key));
}

/**
 * Stops all containers of networks that are made anew, dependents first, and removes the networks,
 * right before the step that makes them: see {@link remadeBy}. The containers stay, with their
 * anonymous volumes, until they are replaced.
 *
 * Throws `conflict` when somebody else's container was connected in between, and what the engine does.
 */
export async function removeNetworks(
  engine: Engine,
  networks: readonly ChangedNetwork[],
  { release, services, onStop }: {
    readonly release: Release;
    readonly services: readonly ServicePlan[];
    /** Called before any container is stopped. */
    readonly onStop: (ids: readonly string[]) => void;
  },
  signal: AbortSignal,
): Promise<void> {
  if (networks.length === 0) return;
  const all = await engine.listContainers({}, signal);
  requireNoStrangers(networks, all, { release, services });
  const dependsOn = (name: string) =>
    release.services.find((each) => each.name === name)?.dependsOn ?? [];
  const order = inOrder(release.services.map((each) => each.name), dependsOn);
  const connected = membersOf(all);
  const ids = new Set(networks.flatMap((each) => connected.get(each.id) ?? []).map(({ id }) => id));
  const running = all.filter((each) => ids.has(each.id))
    .filter(({ state }) => state !== "exited" && state !== "created");
  const members = inServiceOrder(running, order).reverse();
  onStop(members.map((each) => each.id));
  for (const { id } of members) await engine.stopContainer(id, undefined, signal);
  for (const { id } of networks) await engine.removeNetwork(id, signal);
}

/** The containers in each network, by network id. */
function membersOf(containers: readonly ObservedContainer[]) {
  const members = new Map<string, ObservedContainer[]>();
  for (const each of containers) {
    for (const id of each.networkIds ?? []) members.getOrInsertComputed(id, () => []).push(each);
  }
  return members;
}
