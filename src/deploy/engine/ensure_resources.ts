import type { NetworkBody } from "../../docker/create_bodies.ts";
import type { Engine, ResourceSummary } from "../../docker/engine.ts";
import {
  type ComposeModel,
  errors,
  isStackwrightError,
  LABELS,
  StackwrightError,
} from "../../model/mod.ts";
import { addressKeepers } from "./gate.ts";
import {
  askedOrder,
  filesVolumes,
  type JsonObject,
  objectAt,
  objectsAt,
  serviceOf,
  textAt,
} from "../../compose/mod.ts";
import type { EngineWork } from "./engine_work.ts";
import { wantedNetworks, wantedVolumes } from "./resource_bodies.ts";
import { type Resource, resourcesOf } from "../../compose/resources.ts";
import { requireInternal } from "./require_internal.ts";
import { withoutNetworks } from "./without_networks.ts";

/**
 * Makes missing networks and volumes that the changed services use. Existing ones stay as they are,
 * whoever made them. Either all networks are made, or none.
 *
 * Throws `deploy_failed`, before anything is made, for a missing external one, and when the engine
 * has no addresses left for a network; `conflict` for a network that leads outside where an internal one is
 * wanted; and what today's rules refuse.
 */
export async function ensureResources(
  { parts: { engine, clock }, changes, model, api, tell }: EngineWork,
  signal: AbortSignal,
): Promise<void> {
  const { services, joined, mounted } = usedBy(model, Object.keys(changes.scale));
  const networks = wantedNetworks(model, api)
    .filter(({ key, name }) => joined.has(key) && !OWN.has(name));
  const volumes = wantedVolumes(model).filter(({ key }) => mounted.has(key));
  const there = await engine.findNetworks(networks.map(nameOf), signal);
  requireInternal(networks, there);
  const newNetworks = without(networks, there);
  const newVolumes = without(volumes, await engine.findVolumes(volumes.map(nameOf), signal));
  requireNone("network", newNetworks);
  requireNone("volume", newVolumes);
  // What is missing may be what another owner's stack defines since the plan.
  if (newNetworks.length + newVolumes.length > 0) await changes.requireAllowed?.(signal);
  const rolled = joinedBy(services.filter((each) => askedOrder(each) === "start-first"));
  const networksMade: string[] = [];
  try {
    for (const { key, name, body } of newNetworks) {
      await engine.makeNetwork(body, signal).catch((error) => {
        // A network may have been made although the wait for it ended early.
        if (!isStackwrightError(error, "engine_refused")) networksMade.push(name);
        throw error;
      });
      networksMade.push(name);
      if (rolled.has(key)) await chooseRange(engine, { name, body, api }, signal);
      tell(`Network ${name} Created`);
    }
  } catch (error) {
    throw await withoutNetworks(engine, networksMade, error, { clock, signal });
  }
  for (const { name, body } of newVolumes) {
    await engine.makeVolume(body, signal);
    tell(`Volume ${name} Created`);
  }
  // Asked last, too: the engine returns an existing volume of the same name, which another stack may have
  // made since the plan, and both would write to the same data. And while images were built, a slot was
  // awaited or another release failed, a container may have put a link in the way of a mount.
  await changes.requireAllowed?.(signal);
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** Those of `wanted` that are missing; the engine finds a network by its id, too. */
function without<Wanted extends { readonly name: string }>(
  wanted: readonly Wanted[],
  there: readonly ResourceSummary[],
): Wanted[] {
  const known = new Set(there.flatMap(({ id, name }) => [id, name]));
  return wanted.filter(({ name }) => !known.has(name));
}

/** Checks beforehand that the external networks and volumes of services exist. Throws `deploy_failed`. */
export async function requireExternals(
  engine: Pick<Engine, "findNetworks" | "findVolumes">,
  model: ComposeModel,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { joined, mounted } = usedBy(model, names);
  const networks = resourcesOf(model, "networks").filter(({ key, name, external }) =>
    external && joined.has(key) && !OWN.has(name)
  );
  // Volumes with copies of files are made later, once their images are present.
  const copies = new Set(filesVolumes(model, names).map(nameOf));
  const volumes = resourcesOf(model, "volumes").filter(({ key, name, external }) =>
    external && mounted.has(key) && !copies.has(name)
  );
  const noNetworks = without(networks, await engine.findNetworks(networks.map(nameOf), signal));
  const noVolumes = without(volumes, await engine.findVolumes(volumes.map(nameOf), signal));
  requireNone("network", noNetworks);
  requireNone("volume", noVolumes);
}

function requireNone(kind: string, missing: readonly Omit<Resource, "definition">[]): void {
  const first = missing.find(({ external }) => external);
  if (first !== undefined) throw lacking(kind, first);
}

/** The error for a missing external resource; `docker KIND create` with `options` would make it. */
export function lacking(
  kind: string,
  { key, name }: Pick<Resource, "key" | "name">,
  options = "",
): StackwrightError {
  return errors.deploy_failed(
    `${kind}s.${key}: ${kind} ${name} is declared external and does not exist, so nothing was ` +
      `touched; make it first (docker ${kind} create ${options}${name}), or take external away`,
    { cause: LACKING },
  );
}

const LACKING: unique symbol = Symbol("something external");

/** True for an error of {@link lacking}. */
export function lacksExternal(error: unknown): boolean {
  return error instanceof StackwrightError && error.cause === LACKING;
}

/** Keys of the networks that services join, and of the volumes that they mount. */
export function usedBy(model: ComposeModel, names: readonly string[]) {
  const services = names.map((name) => serviceOf(model, name));
  const mounted = new Set(
    services.flatMap((each) => objectsAt(each, "volumes")).map((each) => textAt(each, "source")),
  );
  return { services, joined: joinedBy(services), mounted };
}

function joinedBy(services: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(services.flatMap((each) => Object.keys(objectAt(each, "networks"))));
}

/**
 * Makes a network again with the address range that the engine chose for it: old engines let a
 * container reconnect with its address only if the range was requested.
 */
async function chooseRange(
  engine: Engine,
  { name, body, api }: {
    readonly name: string;
    readonly body: NetworkBody;
    readonly api: string;
  },
  signal: AbortSignal,
): Promise<void> {
  const Labels = { ...body.Labels, [LABELS.keepsAddresses]: "true" };
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const made = (await engine.findNetworks([name], signal)).find((each) => each.name === name);
    const pools = made?.network?.pools ?? [];
    if (made === undefined || pools.length === 0 || made.driver !== "bridge") return;
    if (addressKeepers([made], {}, api).has(name) || body.IPAM !== undefined) return;
    await engine.removeNetwork(made.id, signal);
    try {
      const Config = pools.map(({ subnet }) => ({ Subnet: subnet }));
      return await engine.makeNetwork({ ...body, Labels, IPAM: { Config } }, signal);
    } catch (error) {
      if (!isStackwrightError(error, "engine_refused")) throw error;
      // Somebody else took the range meanwhile; the engine chooses another one.
      await engine.makeNetwork(body, signal);
    }
  }
}

/** Number of attempts at keeping a chosen range. */
const MOST_ATTEMPTS = 5;

/** Predefined networks of the engine, which it may not list. */
const OWN = new Set(["host", "none", "bridge"]);
