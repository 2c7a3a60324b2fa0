import type { Engine } from "../../docker/engine.ts";
import {
  type ComposeModel,
  errors,
  listOf,
  type ObservedContainer,
  type ObservedStack,
  own,
  type Plan,
  type Release,
  type ServicePlan,
} from "../../model/mod.ts";
import {
  imageReference,
  isRequired,
  labelsOf,
  objectAt,
  objectsAt,
  serviceOf,
  sharesWrites,
  startFirstObstacles,
  startFirstRefused,
  textAt,
} from "../../compose/mod.ts";
import { applySteps } from "../apply_steps.ts";
import { addressKeepers, networksThere } from "../engine/gate.ts";
import { notMapped, notMappedResource } from "../engine/mapped_keys.ts";
import { withPlainDollars } from "../engine/plain_dollars.ts";
import { waysOf } from "../in_the_way.ts";
import { type ServiceUpdate, updateOf, type Way } from "./update_config.ts";
import { resourceName } from "../../compose/resources.ts";

type UpdateEngine = Pick<Engine, "imageVolumes" | "imageLabels" | "inspectContainer">;
type PlanEngine = UpdateEngine & Pick<Engine, "apiVersion" | "findNetworks">;

interface UpdateQuestion {
  readonly release: Pick<Release, "model" | "services">;
  readonly services: readonly ServicePlan[];
  readonly observed: ObservedStack;
  /** The model of what runs, where it is known; called only when it is needed. */
  readonly previousModel?: () => ComposeModel | undefined;
  /** Keys of networks that are made anew; none by default. */
  readonly remade?: readonly { readonly key: string }[];
  readonly way?: Way;
}

/** Update rules of a service that has any, with an obstacle to its wanted order. */
export interface FoundUpdate extends ServiceUpdate {
  /** Reason why the service cannot be replaced start-first as it asks; absent when it can. */
  readonly obstacle?: string;
}

/**
 * Update rules of the services to be replaced, by name, where there are any. A service that asks
 * for start-first but cannot have it is replaced stop-first.
 *
 * Throws `config_invalid` if such a service requires start-first.
 */
export async function findUpdates(
  engine: UpdateEngine,
  question: UpdateQuestion,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FoundUpdate>> {
  const { release, services, observed, remade = [], way = "forward" } = question;
  const model = withPlainDollars(release.model);
  const obstacleOf = startFirstObstacles(model);
  const resource = notMappedResource(model);
  const containers = Map.groupBy(observed.containers, ({ service }) => service);
  const found = new Map<string, FoundUpdate>();
  for (const { name } of services.filter((each) => each.action === "recreate")) {
    const update = updateOf(model, name, way);
    if (update === undefined) continue;
    if (update.order === "stop-first") {
      found.set(name, update);
      continue;
    }
    const path = resource ?? notMapped(model, name);
    const mine = containers.get(name) ?? [];
    const obstacle = obstacleOf(name) ?? leftToCompose(path) ??
      await changedProxyLabels(engine, { model, name, containers: mine }, signal) ??
      remade.filter(({ key }) => Object.hasOwn(objectAt(serviceOf(model, name), "networks"), key))
        .map(({ key }) => `network ${key} is made anew`)[0] ??
      await imageVolume(engine, { model, name }, signal);
    found.set(name, obstacle === undefined ? update : { ...update, obstacle });
  }
  const handedOver = handOvers(question, found);
  for (const [name, update] of found) {
    if (update.order === "stop-first") continue;
    const obstacle = update.obstacle ?? handedOver.get(name);
    if (obstacle === undefined) continue;
    // A rollback matters more than the order in which containers are replaced.
    if (way === "forward" && isRequired(serviceOf(model, name))) {
      throw errors.config_invalid(startFirstRefused(name, obstacle));
    }
    found.set(name, { ...update, order: "stop-first", obstacle });
  }
  return found;
}

/** Obstacles by service: another one needs what it holds, and starts while it still runs. */
function handOvers(
  { release, services, observed: { containers }, previousModel }: UpdateQuestion,
  updates: ReadonlyMap<string, FoundUpdate>,
): ReadonlyMap<string, string> {
  const asking = [...updates].filter(([, { order, obstacle }]) =>
    order === "start-first" && obstacle === undefined
  ).map(([name]) => name);
  if (asking.length === 0) return new Map();
  const neighbours = { model: release.model, previousModel: previousModel?.(), containers };
  const takers = waysOf(neighbours).inTheWay(asking, services.map((each) => each.name));
  if (takers.size === 0) return new Map();
  const running = new Set(containers.map((each) => each.service));
  const rolled = new Set(updates.keys());
  const input = { ...neighbours, services, desired: release.services, running, rolled };
  const stopped = new Set(
    applySteps(input).before.flatMap((step) => step.kind === "stop" ? step.services : []),
  );
  return new Map(
    [...takers].filter(([name]) => stopped.has(name)).map(([name, taker]) => [
      name,
      `${taker} needs a port, a name, an address or data that it holds until it is stopped`,
    ]),
  );
}

/** The plan, with the update order services ask for as a reason. Throws as {@link findUpdates} does. */
export async function withUpdateOrders(
  engine: PlanEngine,
  plan: Plan,
  question: Omit<UpdateQuestion, "services" | "way">,
  signal: AbortSignal,
): Promise<Plan> {
  if (plan.kind !== "deploy") return plan;
  const { services } = plan;
  const updates = await findUpdates(engine, { ...question, services }, signal);
  if (updates.size === 0) return plan;
  const startsFirst = [...updates.values()].some((each) => each.order === "start-first");
  const { model } = question.release;
  const losing = startsFirst ? await addressLosers(engine, model, signal) : [];
  const serving = new Set(
    question.observed.containers.filter(({ state }) => state === "running")
      .map(({ service }) => service),
  );
  return {
    ...plan,
    services: services.map((each) => {
      const update = updates.get(each.name);
      if (update === undefined) return each;
      const joined = new Set(
        Object.keys(objectAt(serviceOf(model, each.name), "networks"))
          .map((key) => resourceName(model, "networks", key)),
      );
      const rough = losing.find((network) => joined.has(network));
      const text = orderText(update, { rough, serves: serving.has(each.name) });
      return text === undefined ? each : { ...each, because: [...each.because, text] };
    }),
  };
}

function orderText(
  { order, obstacle }: FoundUpdate,
  { rough, serves }: { readonly rough: string | undefined; readonly serves: boolean },
): string | undefined {
  if (obstacle !== undefined) {
    return `replaced stop-first, although start-first is asked for: ${obstacle}`;
  }
  if (order === "stop-first") return undefined;
  if (!serves) return "replaced start-first; none of its containers runs now";
  return "replaced start-first: the old container serves until the new one does" +
    (rough === undefined ? "" : `; in network ${rough}, where containers cannot keep their ` +
      "addresses, single requests can fail meanwhile: give it a subnet");
}

/** Existing networks in which a container loses its address when its names change. */
async function addressLosers(engine: PlanEngine, model: ComposeModel, signal: AbortSignal) {
  const networks = await networksThere(engine, model, signal);
  const keepers = addressKeepers(networks, model, await engine.apiVersion(signal));
  return networks.map((each) => each.name).filter((name) => !keepers.has(name));
}

function leftToCompose(path: string | undefined): string | undefined {
  return path === undefined ? undefined : `${path} is left to docker compose, which stops first`;
}

/** Labels of reverse proxies, which refuse two different definitions under one name. */
const PROXY_LABEL = /^(?:traefik|caddy(?:_\d+)?)(?:\.|$)/;

async function changedProxyLabels(
  engine: UpdateEngine,
  { model, name, containers }: {
    readonly model: ComposeModel;
    readonly name: string;
    /** Those of the service. */
    readonly containers: readonly ObservedContainer[];
  },
  signal: AbortSignal,
): Promise<string | undefined> {
  const wanted = labelsOf(serviceOf(model, name));
  for (const container of containers) {
    // Lists leave out the labels that authors write.
    const { imageId, labels } = (await engine.inspectContainer(container.id, signal))?.container ??
      container;
    const changed = [...new Set([...Object.keys(wanted), ...Object.keys(labels)])].sort()
      .filter((each) => PROXY_LABEL.test(each) && wanted[each] !== labels[each]);
    if (changed.length === 0) continue;
    // A label that the model does not have may be the image's.
    const byImage = imageId === "" ? {} : await engine.imageLabels(imageId, signal) ?? {};
    const label = changed.find((each) =>
      wanted[each] !== undefined || own(byImage, each) !== labels[each]
    );
    if (label === undefined) continue;
    return `the label ${label} changes, and a reverse proxy takes no two versions of it`;
  }
  return undefined;
}

/** Obstacle: an anonymous volume of the image, which goes from the old container to the new one. */
async function imageVolume(
  engine: UpdateEngine,
  { model, name }: { readonly model: ComposeModel; readonly name: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const service = serviceOf(model, name);
  if (sharesWrites(service)) return undefined;
  const mounted = objectsAt(service, "volumes").map((each) => textAt(each, "target"));
  const temporary = listOf(service["tmpfs"]).map(String);
  const covered = new Set([...mounted, ...temporary.map((each) => each.replace(/:[^]*/, ""))]);
  const volumes = await engine.imageVolumes(imageReference(model, name), signal);
  const path = volumes.find((each) => !covered.has(each));
  return path === undefined ? undefined : `its image declares the volume ${path}, of one container`;
}
