import { join } from "node:path";
import { insideTree, parentsOf } from "../compose/mod.ts";
import {
  isOurs,
  type ObservedStack,
  own,
  placeAmong,
  type Plan,
  type Release,
} from "../model/mod.ts";
import type { Log } from "../system/mod.ts";
import { modelBefore } from "./bring_old_data.ts";
import { holdsSomethingSeen, liveHolds, type OldDataParts } from "./copy_old_data.ts";
import {
  dataElsewhere,
  type EmptyBeginning,
  type EmptyPlace,
  type Neighbours,
  newVolumes,
  sharedPlaces,
} from "./data_elsewhere.ts";
import { writtenAt } from "./kept_data.ts";
import { modelMounts, plainPath, saidOf } from "./moved_mounts.ts";
import {
  findOldData,
  inCheckout,
  liveMounts,
  mountedByUs,
  mountsOf,
  type OldData,
} from "./old_data.ts";
import { stackDirectories } from "./stack_files.ts";

/** Services of which it is said: an author may have any number. */
const MOST_TOLD = 20;
/** Mounts whose former places are looked at on the disk. */
const MOST_MOVED = 100;

const NONE: Neighbours = { named: [], unnamed: [] };

/**
 * Adds to a plan where a service begins with an empty directory or volume whose data is elsewhere: in the
 * directory of a container of the stack that an adoption left alone, with one of another project, or where
 * the release before had it; and where it shares data with one of those. Nothing
 * is copied then, as its service is another one; what has no word looks like data loss. Warns of it, too.
 */
export async function withEmptyBeginnings(
  parts: OldDataParts & { readonly log: Pick<Log, "warning"> },
  { release, neighbours = NONE }: {
    readonly release: Release;
    readonly neighbours?: Neighbours | undefined;
  },
  observed: ObservedStack,
  plan: Plan,
  signal: AbortSignal,
): Promise<Plan> {
  if (plan.kind !== "deploy") return plan;
  const told = (await emptyBeginnings(parts, release, { observed, plan, neighbours }, signal))
    .slice(0, MOST_TOLD);
  const { name, context } = release.key;
  for (const { service, text } of told) {
    parts.log.warning(`service ${service}: ${text}`, { stack: name, context });
  }
  const services = plan.services.map((each) => {
    const texts = told.filter(({ service }) => service === each.name).map(({ text }) => text);
    return { ...each, because: [...each.because, ...texts] };
  });
  return { ...plan, services };
}

/** The places of services that are made, and that nothing is in yet, with what is said of each. */
async function emptyBeginnings(
  parts: OldDataParts,
  release: Release,
  { observed, plan, neighbours }: {
    readonly observed: ObservedStack;
    readonly plan: Plan;
    readonly neighbours: Neighbours;
  },
  signal: AbortSignal,
): Promise<EmptyBeginning[]> {
  const named = (actions: readonly string[]) =>
    new Set(
      plan.services.filter(({ action }) => actions.includes(action)).map(({ name }) => name),
    );
  const { containers } = observed;
  const created = named(["create"]);
  const made = containers.every(isOurs) ? created : named(["create", "recreate"]);
  // At the first deployment it gets a copy.
  const isLater = containers.some(isOurs) && !containers.every(isOurs);
  const { left, beside } = await emptyDirectories(
    parts,
    release,
    { observed, names: made, isLater },
    signal,
  );
  const places = [
    ...await newVolumes(parts, release, created, signal),
    ...beside.filter(({ service }) => created.has(service)),
  ];
  const shared = sharedPlaces(release, created);
  const before = () => modelBefore(parts, release.key);
  return [
    ...left,
    ...await leftInLive(parts, release, { observed, names: named(["recreate"]) }, signal),
    ...await dataElsewhere(parts, release, { places, shared, before, neighbours }, signal),
  ];
}

/**
 * What is said of targets at which services of these `names` had another path of `live`, to which containers
 * wrote: a commit moves the compose file, or makes a directory a link. Nothing is said of what the service
 * mounts elsewhere from now on.
 */
async function leftInLive(
  parts: OldDataParts,
  release: Release,
  { observed, names }: { readonly observed: ObservedStack; readonly names: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<EmptyBeginning[]> {
  if (names.size === 0) return [];
  const hostLive = stackDirectories(parts.host.dataDir, release.key).live;
  const { mounted } = await mountsOf(parts.host.engine, release, observed, signal);
  const wanted = new Map([...names].map((name) => {
    const mounts = modelMounts(release.model, name);
    return [name, { mounts, has: new Set([...mounts.values()].map(({ source }) => source)) }];
  }));
  const moved = mounted.flatMap(({ container, bind: { source, destination, writable } }) => {
    const { service } = container;
    const { mounts, has } = wanted.get(service) ?? {};
    const target = plainPath(destination);
    const [path, to] = [insideTree(source, hostLive), mounts?.get(target)];
    if (!isOurs(container) || !writable || path === undefined || to === undefined) return [];
    return has?.has(source) ? [] : [{ service, target, source, path, to }];
  });
  const perTarget = new Map(moved.map((each) => [`${each.service} ${each.target}`, each]));
  const isWritten = await writtenAt(parts, release.key);
  const left: EmptyBeginning[] = [];
  for (
    const { service, target, source, path, to } of [...perTarget.values()].slice(0, MOST_MOVED)
  ) {
    if (!await isWritten(path)) continue;
    const text =
      `${target} begins without what containers wrote to ${source}, which stays there; ` +
      (to.kind === "bind"
        ? `to go on with it, stop the stack and copy it to ${to.source}`
        : `it becomes ${saidOf(to)}`);
    left.push({ service, text });
  }
  return left;
}

/**
 * Tells of a path whether files are committed below it that are not only there to keep the directory.
 * They are sorted once: to look at each of them for each of thousands of mounts takes a minute.
 */
function filled(committed: Release["live"]["files"]): (path: string) => boolean {
  const files = Object.keys(committed)
    .filter((each) => !/(?:^|\/)\.(?:git)?(?:keep|ignore)$/.test(each)).sort();
  return (path) => {
    const below = path === "." ? "" : `${path}/`;
    return files[placeAmong(files, (each) => each < below)]?.startsWith(below) === true;
  };
}

/** What is said of data that may be where this process sees nothing. */
function unseen({ target, source, container }: OldData, place: string): string {
  return `${target} begins empty: Stackwright cannot see whether its data is in ${source}, beside ` +
    `which container ${container.name} was made; mount that into Stackwright's container, or copy ` +
    `it to ${place} before`;
}

/** The directories of services of these `names` in which nothing is yet, apart from those of which is said. */
async function emptyDirectories(
  { host, files, options }: Pick<OldDataParts, "host" | "files" | "options">,
  release: Release,
  { observed, names, isLater }: {
    readonly observed: ObservedStack;
    readonly names: ReadonlySet<string>;
    readonly isLater: boolean;
  },
  signal: AbortSignal,
): Promise<{ readonly left: EmptyBeginning[]; readonly beside: EmptyPlace[] }> {
  const { key, live: { files: committed }, workingDir } = release;
  const hostLive = stackDirectories(host.dataDir, key).live;
  const { live } = stackDirectories(options.dataDir, key);
  const [left, beside]: [EmptyBeginning[], EmptyPlace[]] = [[], []];
  const wanted = liveMounts(release.model, hostLive).filter(({ service }) => names.has(service));
  if (wanted.length === 0) return { left, beside };
  const { containers, mounted } = await mountsOf(host.engine, release, observed, signal);
  const ours = mountedByUs(mounted, hostLive);
  const byPath = inCheckout(mounted.filter(({ container }) => !isOurs(container)), workingDir);
  const candidates = wanted.filter(({ path }) => !ours.has(path));
  if (candidates.length === 0) return { left, beside };
  const fills = filled(committed);
  const to = { ...release, dataDir: host.dataDir };
  const copied = await findOldData(host.engine, to, { ...observed, containers }, signal);
  const brought = new Set(copied.filter((each) => !each.isAssumed).map(({ path }) => path));
  const assumed = new Map(copied.filter((each) => each.isAssumed).map((each) => [each.path, each]));
  for (const { service, target, path } of candidates) {
    const old = byPath.get(path);
    const isBrought = parentsOf(path).some((each) => brought.has(each)) || brought.has(path);
    if (isBrought || own(committed, path) !== undefined) continue;
    if (await liveHolds(files, live, path)) continue;
    const place = join(hostLive, path);
    const may = assumed.get(path);
    const isThere = may && await holdsSomethingSeen({ files, host }, may.source, signal);
    if (old === undefined || !isLater) {
      if (isThere === true || fills(path)) continue;
      if (may === undefined || isThere === false) {
        beside.push({ service, target, place, kind: "bind" });
      } else left.push({ service, text: unseen(may, place) });
      continue;
    }
    const { bind: { source }, container } = old;
    if (await holdsSomethingSeen({ files, host }, source, signal) === false) continue;
    const text =
      `${target} begins empty: what ${source} holds, which container ${container.name} mounts ` +
      `that Stackwright did not make, stays there; to go on with it, stop that and copy it to ` +
      `${place} before`;
    left.push({ service, text });
  }
  return { left, beside };
}
