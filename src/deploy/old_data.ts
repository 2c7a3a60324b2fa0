import { join } from "node:path";
import type { Engine } from "../docker/engine.ts";
import {
  type ComposeModel,
  isOurs,
  type ObservedContainer,
  type ObservedStack,
} from "../model/mod.ts";
import { insideTree, objectsAt, servicesOf, textAt } from "../compose/mod.ts";
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
  const found = new Map<string, OldData>();
  for (const { service, target, path } of liveMounts(model, hostLive)) {
    for (const { container, binds } of mounted) {
      if (container.service !== service) continue;
      const bind = binds.find((each) => plain(each.destination) === plain(target));
      if (bind === undefined || insideTree(bind.source, hostLive) !== undefined) continue;
      const writers = mounted.filter((each) =>
        each.container.state === "running" &&
        each.binds.some(({ source, writable }) => writable && overlap(source, bind.source))
      ).map((each) => each.container);
      const { source, writable } = bind;
      found.set(path, { service, target, source, path, writable, writers });
    }
  }
  const all = [...found.values()];
  return all.filter(({ path }) =>
    !all.some((outer) =>
      outer.path !== path && insideTree(`/${path}`, `/${outer.path}`) !== undefined
    )
  );
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
