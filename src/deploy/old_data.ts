import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  isOurs,
  type ObservedBind,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
} from "../model/mod.ts";
import {
  insideTree,
  objectsAt,
  parentsOf,
  printedInside,
  servicesOf,
  textAt,
} from "../compose/mod.ts";
import { createPauses } from "../system/mod.ts";
import { readMark } from "./mark.ts";
import { plainPath } from "./moved_mounts.ts";
import { observe } from "./observe.ts";
import { livePathOf, stackDirectories } from "./stack_files.ts";

/**
 * Data of a container at a path its successor will not mount: Stackwright did not make the container, or
 * made it with another data directory.
 */
export interface OldData {
  readonly service: string;
  /** Mount target in the old container. */
  readonly target: string;
  /** Path on the engine's host that the old container mounts. */
  readonly source: string;
  /** Path below `live` that the new container will mount. */
  readonly path: string;
  /** Whether the old container may write to the data. */
  readonly writable: boolean;
  /** Running containers that may be writing to the data. */
  readonly writers: readonly ObservedContainer[];
  /** Whose the old container is by its labels, where Stackwright made it with another data directory. */
  readonly owner?: string;
}

/** Where data belongs that is found. */
interface NewPlace {
  readonly key: StackKey;
  readonly model: ComposeModel;
  /** The data directory on the engine's host. */
  readonly dataDir: string;
}

/** A mount of a container that is to be replaced. */
interface OldMount {
  readonly container: ObservedContainer;
  readonly bind: ObservedBind;
}

/**
 * Mounts whose source changes with the release: relative ones, which were below somebody else's copy
 * of the repository, or below `live` in another data directory, and will be below ours. A mount inside
 * another found one is left out, since it is copied with it. Asks the engine where `containers` are from
 * a list of everybody's, which does not tell of mounts.
 */
export async function findOldData(
  engine: Engine,
  to: NewPlace,
  observed: ObservedStack,
  signal: AbortSignal,
): Promise<OldData[]> {
  const hostLive = stackDirectories(to.dataDir, to.key).live;
  const wanted = liveMounts(to.model, hostLive);
  if (wanted.length === 0) return [];
  const isTold = observed.containers.every(({ binds }) => binds !== undefined);
  const { containers } = isTold ? observed : await observe(engine, to, signal);
  const mounted = containers.flatMap((container) =>
    (container.binds ?? []).map((bind) => ({ container, bind }))
  );
  const away = (from: string, ours: boolean) =>
    mounted.filter(({ container, bind }) =>
      isOurs(container) === ours && insideTree(bind.source, from) === undefined
    );
  const byTarget = new Map(
    away(hostLive, false).map((each) => (
      [placeOf(each.container.service, each.bind.destination), each] as const
    )),
  );
  // What is left of others beside containers of ours was left behind by the first deployment.
  const byPath = containers.some(isOurs)
    ? inAnotherLive(away(to.dataDir, true), to.key)
    : inCheckouts(away(hostLive, false), new Set(wanted.map(({ path }) => path)));
  const writing = mounted.filter(({ container: { state }, bind }) =>
    state === "running" && bind.writable
  );
  const pauses = createPauses();
  const found = new Map<string, OldData>();
  for (const { service, target, path } of wanted) {
    const old = byPath.get(path) ?? byTarget.get(placeOf(service, target));
    if (old === undefined) continue;
    const { container, bind: { source, writable, destination } } = old;
    // Of the services that mount it, the one that had it tells of it.
    if (found.has(path) && container.service !== service) continue;
    const writers = new Set<ObservedContainer>();
    for (const each of writing) {
      await pauses.after(each.bind.source.length);
      if (overlap(each.bind.source, source)) writers.add(each.container);
    }
    const at = plainPath(destination);
    const data = { service, target: at, source, path, writable, writers: [...writers] };
    const { configuration, deployed } = readMark(container.labels);
    const owner = configuration ?? deployed ?? "another source";
    found.set(path, isOurs(container) ? { ...data, owner } : data);
  }
  return [...found.values()].filter(({ path }) => !pathsAround(path).some((at) => found.has(at)));
}

/** Mounts from the `live` of a stack in whatever data directory, by their path in it. */
function inAnotherLive(mounts: readonly OldMount[], { name }: StackKey) {
  return new Map(mounts.flatMap((each) => {
    const path = livePathOf(each.bind.source, name);
    return path === undefined ? [] : [[path, each] as const];
  }));
}

/**
 * Mounts of some `paths` in the copy of the repository that compose was run in, by these, whatever service
 * has them and wherever: one that was renamed finds its data. That copy has compose's working directory
 * somewhere in it, so a path is taken for the longest that it can be.
 */
function inCheckouts(mounts: readonly OldMount[], paths: ReadonlySet<string>) {
  const outerLast = mounts.toSorted((a, b) => b.bind.source.length - a.bind.source.length);
  return new Map(outerLast.flatMap((each) => {
    const directory = each.container.labels[COMPOSE_LABELS.workingDirectory];
    const path = directory && [directory, ...parentsOf(directory)]
      .flatMap((root) => insideTree(each.bind.source, root) ?? []).findLast((at) => paths.has(at));
    return path ? [[path, each] as const] : [];
  }));
}

/** The directories around a path. */
function pathsAround(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(0, at).join("/") || ".").filter((each) => each !== path);
}

function placeOf(service: string, destination: string): string {
  return `${service} ${plainPath(destination)}`;
}

/** The mounts of a model whose source is in `live`. */
function liveMounts(model: ComposeModel, hostLive: string) {
  return Object.entries(servicesOf(model)).flatMap(([service, definition]) =>
    objectsAt(definition, "volumes").flatMap((volume) => {
      const path = volume["type"] === "bind"
        ? printedInside(textAt(volume, "source"), hostLive)
        : undefined;
      return path === undefined ? [] : [{ service, target: textAt(volume, "target"), path }];
    })
  );
}

function overlap(one: string, other: string): boolean {
  return insideTree(one, other) !== undefined || insideTree(other, one) !== undefined;
}
