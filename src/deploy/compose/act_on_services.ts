import type { Engine } from "../../docker/engine.ts";
import { COMPOSE_LABELS, type ComposeModel, own, type Release } from "../../model/mod.ts";
import { claimsOf, servicesOf } from "../../compose/mod.ts";

/** What a container is called while another one has its name: its short id in front. */
const PUT_ASIDE = /^[0-9a-f]{12}_/;

/** Stops and removes the containers of services; volumes stay. */
export async function removeServices(
  engine: Engine,
  release: Release,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const container of await containersOf(engine, release, services, signal)) {
    await engine.stopContainer(container.id, undefined, signal);
    await engine.removeContainer(container.id, { force: true, volumes: false }, signal);
  }
}

/**
 * Stops the containers of services and leaves them for a rollback, with their anonymous volumes. One
 * whose name a service of the release wants to have is renamed; see {@link giveNamesBack}.
 */
export async function stopServices(
  engine: Engine,
  release: Release,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = wantedNames(release.model);
  for (const container of await containersOf(engine, release, services, signal)) {
    await engine.stopContainer(container.id, undefined, signal);
    const owner = wanted.get(container.name);
    if (owner === undefined || owner === container.service) continue;
    await engine.renameContainer(
      container.id,
      `${container.id.slice(0, 12)}_${container.name}`,
      signal,
    );
  }
}

/** Gives containers that were put aside their names back, before their services are started. */
export async function giveNamesBack(
  engine: Engine,
  release: Release,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (const container of await containersOf(engine, release, services, signal)) {
    const name = container.name.replace(PUT_ASIDE, "");
    const isAside = name !== container.name && container.id.startsWith(container.name.slice(0, 12));
    if (isAside) await engine.renameContainer(container.id, name, signal);
  }
}

function wantedNames(model: ComposeModel): ReadonlyMap<string, string> {
  return new Map(
    Object.keys(servicesOf(model)).flatMap((service) =>
      claimsOf(model, service).names.map((name) => [name, service])
    ),
  );
}

async function containersOf(
  engine: Engine,
  release: Release,
  services: readonly string[],
  signal: AbortSignal,
) {
  const project = { [COMPOSE_LABELS.project]: release.key.name };
  const containers = await engine.listContainers(project, signal);
  return containers.filter((each) => services.includes(each.service));
}

/** Tells running containers that their files changed. */
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
