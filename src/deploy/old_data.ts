import { join, relative } from "node:path/posix";
import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  isOurs,
  type ObservedBind,
  type ObservedContainer,
  type ObservedStack,
  type Release,
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
  /** The container that has it. */
  readonly container: ObservedContainer;
  /** All containers that mount it and are of the same maker, whether they run or not. */
  readonly holders: readonly ObservedContainer[];
  /** Whether a container of ours mounts the path below `live` already. */
  readonly isInUse: boolean;
  /** Running containers that may be writing to the data. */
  readonly writers: readonly ObservedContainer[];
  /**
   * Whether no container mounts it: `container` is one of the stack that was run in the same copy of the
   * repository, and there may be nothing.
   */
  readonly isAssumed?: true;
  /** Whose the old container is by its labels, where Stackwright made it with another data directory. */
  readonly owner?: string;
}

/** Where data belongs that is found. */
interface NewPlace extends Pick<Release, "key" | "model" | "workingDir"> {
  /** The data directory on the engine's host. */
  readonly dataDir: string;
}

/** A mount of a release from `live`. */
export interface LiveMount {
  readonly service: string;
  readonly target: string;
  /** The path in `live`. */
  readonly path: string;
}

/** A mount of a container. */
export interface OldMount {
  readonly container: ObservedContainer;
  readonly bind: ObservedBind;
}

/** The containers of a stack with their mounts, which a list of everybody's does not tell of. */
export async function mountsOf(
  engine: Engine,
  to: Pick<Release, "key">,
  observed: ObservedStack,
  signal: AbortSignal,
): Promise<{
  readonly containers: ObservedStack["containers"];
  readonly mounted: readonly OldMount[];
}> {
  const isTold = observed.containers.every(({ binds }) => binds !== undefined);
  const { containers } = isTold ? observed : await observe(engine, to, signal);
  const mounted = containers.flatMap((container) =>
    (container.binds ?? []).map((bind) => ({ container, bind }))
  );
  return { containers, mounted };
}

/** The paths below `hostLive` that containers of Stackwright mount. */
export function mountedByUs(
  mounted: readonly OldMount[],
  hostLive: string,
): ReadonlySet<string | undefined> {
  return new Set(
    mounted.flatMap(({ container, bind }) =>
      isOurs(container) ? [insideTree(bind.source, hostLive)] : []
    ),
  );
}

/**
 * Mounts whose source changes with the release: relative ones, which were below somebody else's copy
 * of the repository, or below `live` in another data directory, and will be below ours. What is copied with
 * another found one, around it, is left out. Asks the engine where `containers` are from
 * a list of everybody's, which does not tell of mounts. At the first deployment, what a service mounts
 * that no container does is assumed to be in the copy that containers of the stack were run in.
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
  const { containers, mounted } = await mountsOf(engine, to, observed, signal);
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
  const isFirst = !containers.some(isOurs);
  const byPath = !isFirst
    ? inAnotherLive(away(to.dataDir, true), to.key)
    : inCheckout(away(hostLive, false), to.workingDir);
  const inUse = mountedByUs(mounted, hostLive);
  const writing = mounted.filter(({ container: { state }, bind }) =>
    state === "running" && bind.writable
  );
  const pauses = createPauses();
  const found = new Map<string, OldData>();
  const had = chosen(wanted, { byTarget, byPath });
  const bySource = Map.groupBy(mounted, ({ bind }) => bind.source);
  const holdersOf = (container: ObservedContainer, source: string) => {
    const all = (bySource.get(source) ?? []).map((each) => each.container);
    return all.filter((each) => isOurs(each) === isOurs(container));
  };
  const assumed = isFirst ? assumedIn(containers, to.workingDir, wanted) : [];
  for (const { service, path, old, isAssumed } of [...had, ...assumed]) {
    if (isAssumed) await pauses.after(path.length);
    if (found.has(path) || isAssumed && parentsOf(path).some((each) => found.has(each))) continue;
    const { container, bind: { source, writable, destination } } = old;
    const writers = new Set<ObservedContainer>();
    for (const each of writing) {
      await pauses.after(each.bind.source.length);
      if (overlap(each.bind.source, source)) writers.add(each.container);
    }
    const at = plainPath(destination);
    const data = {
      ...{ service, target: at, source, path, writable, writers: [...writers] },
      ...{ container, isInUse: inUse.has(path), holders: holdersOf(container, source) },
    };
    const { configuration, deployed } = readMark(container.labels);
    const owner = configuration ?? deployed ?? "another source";
    const more = isOurs(container) ? { owner } : isAssumed ? { isAssumed } : {};
    found.set(path, { ...data, ...more });
  }
  return await outerFirst(found);
}

/**
 * Data by its paths without what is copied with other found data around it. What is mounted there from
 * elsewhere is not, and comes after that.
 */
async function outerFirst(found: ReadonlyMap<string, OldData>): Promise<OldData[]> {
  const pauses = createPauses();
  const kept: { readonly data: OldData; readonly depth: number }[] = [];
  for (const data of found.values()) {
    const { path, source } = data;
    const around = parentsOf(path).filter((each) => each !== path);
    await pauses.after(path.length * around.length);
    const isInside = around.some((at) => {
      const outer = found.get(at)?.source;
      return outer !== undefined && insideTree(source, outer) === relative(at, path);
    });
    if (!isInside) kept.push({ data, depth: around.length });
  }
  return kept.sort((a, b) => a.depth - b.depth).map(({ data }) => data);
}

/**
 * Whether an adoption left data to an orphan that has not run since, and a service of ours goes on with its
 * copy, which counts. `before` is the model of the deployed release.
 */
export function isKeptOrphans(
  { container: { service, state }, isInUse, owner }: OldData,
  before: Release["model"],
): boolean {
  return isInUse && owner === undefined && state !== "running" &&
    servicesOf(before)[service] === undefined;
}

/** Mounts from the `live` of a stack in whatever data directory, by their path in it. */
function inAnotherLive(mounts: readonly OldMount[], { name }: StackKey) {
  return new Map(mounts.flatMap((each) => {
    const path = livePathOf(each.bind.source, name);
    return path === undefined ? [] : [[path, each] as const];
  }));
}

/**
 * Mounts of the copy of the repository that compose was run in, by their path in the repository, whatever
 * service has them and wherever: one that was renamed finds its data.
 */
export function inCheckout(mounts: readonly OldMount[], workingDir: string | undefined) {
  return new Map(mounts.flatMap((each) => {
    const { root, at } = checkoutOf(each.container, workingDir) ?? {};
    const inside = root === undefined ? undefined : insideTree(each.bind.source, root);
    return at === undefined || inside === undefined ? [] : [[join(at, inside), each] as const];
  }));
}

/**
 * The copy of the repository that compose made a container in: a directory, and the path `at` which the
 * repository has it. It begins where compose's working directory does without `workingDir`; where that does not
 * end so, the stack was moved in the repository, and only what is in that directory counts.
 */
function checkoutOf({ labels }: ObservedContainer, workingDir: string | undefined) {
  const label = labels[COMPOSE_LABELS.workingDirectory];
  if (label === undefined || workingDir === undefined) return undefined;
  const directory = plainPath(label);
  const end = join("/", workingDir, ".").replace(/\/$/, "");
  if (!directory.endsWith(end)) return { root: directory, at: workingDir };
  return { root: directory.slice(0, directory.length - end.length) || "/", at: "." };
}

/** Where some mounts would have their data in the copy of the repository that others' containers were made in. */
function assumedIn(
  containers: readonly ObservedContainer[],
  workingDir: string | undefined,
  wanted: readonly LiveMount[],
) {
  const container = containers.find((each) => checkoutOf(each, workingDir) !== undefined);
  const checkout = container && checkoutOf(container, workingDir);
  if (container === undefined || checkout === undefined) return [];
  return wanted.flatMap(({ service, target, path }) => {
    const inside = insideTree(join("/", path), join("/", checkout.at));
    if (inside === undefined) return [];
    const bind = { source: join(checkout.root, inside), destination: target, writable: false };
    return [{ service, path, old: { container, bind }, isAssumed: true } as const];
  });
}

/**
 * The mount whose data each of some mounts gets, for each path the likeliest first. What the service itself
 * has at the target goes before what another place has of the path, unless it is of another path that is
 * wanted. Of several services, one goes first that had the path, or else the owner of the data.
 */
function chosen(
  wanted: readonly LiveMount[],
  { byTarget, byPath }: {
    readonly byTarget: ReadonlyMap<string, OldMount>;
    readonly byPath: ReadonlyMap<string, OldMount>;
  },
) {
  const sourceAt = (path: string) => plainSource(byPath.get(path));
  const taken = new Map(wanted.map(({ path }) => [sourceAt(path), path]));
  return wanted.flatMap(({ service, target, path }) => {
    const [same, other] = [byTarget.get(placeOf(service, target)), byPath.get(path)];
    const isFree = same !== undefined && (taken.get(plainSource(same)) ?? path) === path;
    const old = isFree ? same : other ?? same;
    if (old === undefined) return [];
    const isExact = plainSource(old) === sourceAt(path);
    const rank = (isExact ? 2 : 0) + (old.container.service === service ? 1 : 0);
    return [{ service, path, old, rank, isAssumed: undefined }];
  }).sort((a, b) => b.rank - a.rank);
}

function plainSource(mount: OldMount | undefined): string | undefined {
  return mount && plainPath(mount.bind.source);
}

function placeOf(service: string, destination: string): string {
  return `${service} ${plainPath(destination)}`;
}

/** The mounts of a model whose source is in `live`. */
export function liveMounts(model: Release["model"], hostLive: string): LiveMount[] {
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
