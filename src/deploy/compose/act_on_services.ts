import { isOneOff } from "../../docker/containers.ts";
import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  isOurs,
  isStackwrightError,
  type ObservedContainer,
  own,
  type Release,
  type StackwrightError,
  wantedName,
} from "../../model/mod.ts";
import { ASIDE, claimsOf, servicesOf } from "../../compose/mod.ts";

/**
 * Name of a container that has to leave its own to another one: a short id in front, as {@link ASIDE}
 * says. The id is its own
 * for one that was put aside, that of the old one for a new one that waits, and that of the proven new
 * one for an old one that retires.
 */
export function nameAside(id: string, name: string): string {
  return `${id.slice(0, 12)}_${name}`;
}

/** Stops a container gracefully and removes it, but not its anonymous volumes. */
export async function stopAndRemove(
  engine: Engine,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await engine.stopContainer(id, undefined, signal);
  await engine.removeContainer(id, { force: true, volumes: false }, signal);
}

type OnServices<Result = void> = (
  engine: Engine,
  release: Release,
  services: readonly string[],
  signal: AbortSignal,
) => Promise<Result>;

/** Stops and removes the containers of services; volumes stay. */
export const removeServices: OnServices = async (engine, release, services, signal) => {
  for (const container of await containersOf(engine, release, services, signal)) {
    await stopAndRemove(engine, container.id, signal);
  }
};

/**
 * Stops the containers of services and keeps them for a rollback, with their anonymous volumes. A
 * container whose name a service of the release needs is renamed; see {@link mendNames}.
 */
export const stopServices: OnServices = async (engine, release, services, signal) => {
  const wanted = wantedNames(release.model);
  for (const container of await containersOf(engine, release, services, signal)) {
    await engine.stopContainer(container.id, undefined, signal);
    const owner = wanted.get(container.name);
    if (owner === undefined || owner === container.service) continue;
    await engine.renameContainer(container.id, nameAside(container.id, container.name), signal);
  }
};

/**
 * Restores the names of containers of services that were put aside or renamed by hand. A successor waits
 * under the very name that an old one has which was put aside. Returns the refusal of a name that somebody
 * else took meanwhile.
 */
export const mendNames: OnServices<StackwrightError | undefined> = async (
  engine,
  release,
  services,
  signal,
) => {
  const known = new Map(release.services.map((each) => [each.name, each]));
  let refused: StackwrightError | undefined;
  for (const container of await containersOf(engine, release, services, signal)) {
    const service = known.get(container.service);
    const wanted = service === undefined ? undefined : wantedName(service, container);
    const name = wanted ?? nameBefore(container);
    if (name === container.name) continue;
    await engine.renameContainer(container.id, name, signal).catch((error) => {
      if (!isStackwrightError(error, "engine_refused")) throw error;
      refused ??= error;
    });
  }
  return refused;
};

/** Unpauses the paused containers of services, which compose ignores when it starts services. */
export const unpauseServices: OnServices = async (engine, release, services, signal) => {
  for (const { id, state } of await containersOf(engine, release, services, signal)) {
    if (state === "paused") await engine.unpauseContainer(id, signal);
  }
};

function nameBefore({ id, name }: ObservedContainer): string {
  return id.startsWith(name.slice(0, 12)) ? name.replace(ASIDE, "") : name;
}

function wantedNames(model: ComposeModel): ReadonlyMap<string, string> {
  return new Map(
    Object.keys(servicesOf(model)).flatMap((service) =>
      claimsOf(model, service).names.map((name) => [name, service])
    ),
  );
}

/** Not those that a person runs once, such as a dump of a database: only runs of jobs are Stackwright's. */
const containersOf: OnServices<ObservedContainer[]> = async (engine, release, services, signal) => {
  const project = { [COMPOSE_LABELS.project]: release.key.name };
  const containers = await engine.listContainers(project, signal);
  const isTheirs = (each: ObservedContainer) => isOneOff(each) && !isOurs(each);
  const wanted = new Set(services);
  return containers.filter((each) => wanted.has(each.service) && !isTheirs(each));
};

/** Signals running containers that their files changed. */
export async function signalServices(
  engine: Engine,
  release: Release,
  signals: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  for (const container of await containersOf(engine, release, Object.keys(signals), signal)) {
    const name = own(signals, container.service);
    if (name === undefined || container.state !== "running") continue;
    await engine.killContainer(container.id, name, signal);
  }
}
