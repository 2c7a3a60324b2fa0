import { resolve } from "node:path/posix";
import type { ContainerMount, Engine } from "../../docker/engine.ts";
import { errors, type ObservedContainer, type StackwrightError } from "../../model/mod.ts";
import { objectsAt, serviceOf, textAt, volumesFrom } from "../../compose/mod.ts";
import type { EngineWork } from "./engine_work.ts";
import { fileUses } from "./injected_files.ts";

/**
 * Refuses containers of a stack that docker compose made with mounts that the model does not name:
 * compose hands on every mount of the container before, where the image declares a volume or the service
 * mounts one without a source. Only volumes without options, which lead nowhere, may come that way.
 *
 * Throws `conflict`.
 */
export async function requireNamedMounts(
  work: EngineWork,
  containers: readonly ObservedContainer[],
  signal: AbortSignal,
): Promise<void> {
  const { parts: { engine }, changes } = work;
  const made = containers.filter(({ service, state }) =>
    Object.hasOwn(changes.scale, service) && state === "created"
  );
  const sharing = volumesFrom(work.model);
  for (const [service, own] of Map.groupBy(made, (each) => each.service)) {
    const named = await namedPlaces(work, { service, ...sharing.get(service) }, signal);
    for (const { id, name } of own) {
      const { mounts = [] } = await engine.inspectContainer(id, signal) ?? {};
      const others = mounts.filter(({ kind, destination }) =>
        kind !== "other" && !named.has(destination)
      );
      const harmless = await leadingNowhere(engine, others, signal);
      const bad = others.find((each) => !harmless.has(each.name));
      if (bad !== undefined) throw inherited(service, name, bad);
    }
  }
}

/** Names of volumes without options. */
async function leadingNowhere(
  engine: Pick<Engine, "findVolumes">,
  mounts: readonly ContainerMount[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = mounts.filter(({ kind }) => kind === "volume").map(({ name }) => name);
  const found = names.length === 0 ? [] : await engine.findVolumes(names, signal);
  const plain = found.filter(({ options = {} }) => Object.keys(options).length === 0);
  return new Set(plain.map(({ name }) => name));
}

/** A service, with those and the containers whose mounts it shares. */
interface SharingService {
  readonly service: string;
  readonly services?: Iterable<string>;
  readonly containers?: Iterable<string>;
}

/** Paths in a service's containers at which its model, or who it shares mounts of, mounts something. */
async function namedPlaces(
  { parts: { engine }, model }: EngineWork,
  { service, services = [], containers = [] }: SharingService,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const paths = [service, ...services].flatMap((name) => {
    const body = serviceOf(model, name);
    const volumes = objectsAt(body, "volumes").filter((each) => textAt(each, "source") !== "");
    return [
      ...volumes.map((each) => textAt(each, "target")),
      ...fileUses(model, body).map(({ path }) => path),
    ];
  });
  const named = new Set(paths.map((path) => resolve("/", path)));
  for (const other of containers) {
    const { mounts = [] } = await engine.inspectContainer(other, signal) ?? {};
    for (const { destination } of mounts) named.add(destination);
  }
  return named;
}

function inherited(
  service: string,
  container: string,
  { kind, name, source, destination }: ContainerMount,
): StackwrightError {
  const what = kind === "volume" ? `volume ${name}` : source;
  return errors.conflict(
    `service ${service}: docker compose made its container ${container} with ${what} at ${destination}, which ` +
      "the container before it mounted and its compose file does not name; it was not started. Mount " +
      `something at ${destination}, or remove that container (docker rm ${container}) and deploy again`,
  );
}
