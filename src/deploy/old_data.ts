import { join } from "node:path";
import type { Engine } from "../docker/engine.ts";
import {
  type ComposeModel,
  isOurs,
  type ObservedContainer,
  type ObservedStack,
} from "../model/mod.ts";
import { insideTree, objectsAt, servicesOf, textAt } from "../compose/mod.ts";
import { createPauses } from "../system/mod.ts";
import { fewAtOnce } from "./few_at_once.ts";

/** Data of a container that Stackwright did not make, at a path its successor will not mount. */
export interface OldData {
  readonly service: string;
  /** Mount target in the old and in the new container. */
  readonly target: string;
  /** Path on the engine's host that the old container mounts. */
  readonly source: string;
  /** Path below `live` that the new container will mount. */
  readonly path: string;
  /** Whether the old container may write to the data. */
  readonly writable: boolean;
  /** Running containers that may be writing to the data. */
  readonly writers: readonly ObservedContainer[];
}

/**
 * Mounts of a project of somebody else whose source changes with the adoption: relative ones, which
 * were below that person's copy of the repository and will be below `live`, at `hostLive` on the
 * engine's host. A mount inside another found one is left out, since it is copied with it.
 */
export async function findOldData(
  engine: Engine,
  { model, hostLive }: { readonly model: ComposeModel; readonly hostLive: string },
  { containers }: ObservedStack,
  signal: AbortSignal,
): Promise<OldData[]> {
  const foreign = containers.filter((each) => !isOurs(each));
  if (foreign.length === 0) return [];
  const mounted = await fewAtOnce(foreign, async (container) => ({
    container,
    binds: (await engine.inspectContainer(container.id, signal))?.mounts
      .filter(({ kind }) => kind === "bind") ?? [],
  }));
  const places = Map.groupBy(
    mounted.flatMap(({ container: { service }, binds }) =>
      binds.map((bind) => ({ bind, place: placeOf(service, bind.destination) }))
    ),
    ({ place }) => place,
  );
  const writing = mounted.filter(({ container }) => container.state === "running")
    .map(({ container, binds }) => ({ container, binds: binds.filter((each) => each.writable) }));
  const pauses = createPauses();
  const found = new Map<string, OldData>();
  for (const { service, target, path } of liveMounts(model, hostLive)) {
    const binds = places.get(placeOf(service, target))?.map(({ bind }) => bind) ?? [];
    // Of several containers of the service, the last one counts.
    const bind = binds.findLast(({ source }) => insideTree(source, hostLive) === undefined);
    if (bind === undefined) continue;
    const { source, writable } = bind;
    const writers: ObservedContainer[] = [];
    for (const each of writing) {
      await pauses.after(each.binds.reduce((sum, one) => sum + one.source.length, source.length));
      if (each.binds.some((one) => overlap(one.source, source))) writers.push(each.container);
    }
    found.set(path, { service, target, source, path, writable, writers });
  }
  return [...found.values()].filter(({ path }) => !pathsAround(path).some((at) => found.has(at)));
}

/** The directories around a path. */
function pathsAround(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(0, at).join("/") || ".").filter((each) => each !== path);
}

function placeOf(service: string, destination: string): string {
  return `${service} ${plain(destination)}`;
}

/** The mounts of a model whose source is in `live`. */
function liveMounts(model: ComposeModel, hostLive: string) {
  return Object.entries(servicesOf(model)).flatMap(([service, definition]) =>
    objectsAt(definition, "volumes").flatMap((volume) => {
      const path = volume["type"] === "bind"
        ? insideTree(textAt(volume, "source"), hostLive)
        : undefined;
      return path === undefined ? [] : [{ service, target: textAt(volume, "target"), path }];
    })
  );
}

function overlap(one: string, other: string): boolean {
  return insideTree(one, other) !== undefined || insideTree(other, one) !== undefined;
}

function plain(path: string): string {
  return join("/", path, ".").replace(/(.)\/$/, "$1");
}
