import { join } from "node:path";
import {
  externalObject,
  fitsTemplate,
  type FollowedPath,
  followedPaths,
  insideTree,
  mayBecome,
  pathRelation,
  PROCESSES,
  SHOWS_PROCESSES,
  THROUGH_PROCESS,
} from "../compose/mod.ts";
import { type ComposeModel, errors, messageOf, type StackwrightError } from "../model/mod.ts";
import {
  type ComposeProject,
  RealTree,
  stackDirectories,
  type TemplatePaths,
  templatePaths,
  withPlainDollars,
} from "../deploy/mod.ts";
import type { Log } from "../system/mod.ts";
import { fewWarnings } from "./few_warnings.ts";
import { type GuardedInputs, guardRendering } from "./compose_guard.ts";
import { interpolate } from "./interpolate.ts";
import { onDisk } from "../deploy/mod.ts";
import { existingVolumes } from "./existing_volumes.ts";
import { requireNotOurGroup } from "./own_group.ts";
import { type OurPlaces, ourPlaces } from "./our_places.ts";
import type { PrepareParts } from "./parts.ts";
import { leadsThroughProcess } from "./process_links.ts";
import { nearest } from "./real_paths.ts";
import type { Target } from "./target.ts";

/** Sockets of engines: access to one gives the engine's rights on the host. */
const ENGINE_SOCKET = /\/(?:docker|podman)\.sock$/;
const USUAL_SOCKETS = ["/run/docker.sock", "/var/run/docker.sock"];

/**
 * Ensures that rendering a project reads only its own source; see {@link guardRendering}, also for
 * the result.
 */
export async function requireSafeInputs(
  parts: PrepareParts,
  project: ComposeProject,
  tree: string,
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GuardedInputs> {
  return await guardRendering({
    tree,
    directory: project.directory,
    composeFiles: project.files,
    envFiles: project.envFiles,
  }, {
    files: parts.files,
    turns: parts.turns,
    interpolate: (texts) => interpolate(parts, { project, variables }, texts, signal),
  }, signal);
}

/**
 * Refuses a rendered model that would make compose or buildx read files of this service, or that
 * mounts our data directory or our secrets. Mounts of a directory around these, or of the engine's
 * socket, are allowed with a warning: whoever may push may have those rights.
 *
 * Returns the error for a missing container if that is the only problem: it fails a new release,
 * but a recorded one gets nothing from a missing container. Throws `path_escapes`, `unsupported`,
 * and `config_invalid` for more paths than any project has.
 */
export async function requireSafeModel(
  given: PrepareParts,
  target: Pick<Target, "key" | "swarm">,
  model: ComposeModel,
  tree: string,
  signal: AbortSignal,
): Promise<StackwrightError | undefined> {
  const { name, context } = target.key;
  const log = fewWarnings(given.log.with({ stack: name, context }));
  const places = await ourPlaces(given, signal);
  const becoming = templatePaths(given.files);
  const parts = { ...given, log, places, root: new RealTree(given.files, "/"), becoming };
  // Followed paths have plain dollars.
  const plain = withPlainDollars(model);
  const isStack = target.swarm !== undefined;
  const found = followedPaths(plain, { isStack });
  const existing = await existingVolumes(given.host, plain, signal, { isStack });
  const external = target.swarm === undefined ? externalObject(model) : undefined;
  const [refused] = external === undefined
    ? [...found.refused, ...existing.refused]
    : [`${external} is external, which only a swarm has`];
  if (refused !== undefined) {
    throw errors.unsupported(`deployment ${name}: ${refused}; it is not supported`);
  }
  const seen = new Set<string>();
  for (const each of [...found.paths, ...existing.paths]) {
    const key = `${each.by} ${each.what} ${each.path}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (each.by === "us") await requireInTree(parts, name, each, tree);
    else await requireNotOurs(parts, name, each, tree);
    if (each.by !== "us" && isStack) await requireTemplatesNotOurs(parts, name, each, tree);
  }
  const templated = isStack &&
    found.paths.find(({ path }) => places.paths.some((each) => mayBecome(path, each)));
  if (templated) throw ours(name, templated.what);
  if (found.shared.length > 0) await requireNotUs(parts, name, found.shared, signal);
  await requireNotOurGroup(parts, name, plain, signal);
  const isOurs = (volume: string) =>
    places.volumes.some((own) => volume === own || isStack && fitsTemplate(volume, own));
  const volume = found.volumes.find((each) => isOurs(each.name));
  if (volume !== undefined) throw ours(name, volume.what);
  let gone: StackwrightError | undefined;
  for (const each of found.containers) {
    gone = await requireMountsNotOurs(parts, name, each, tree, signal) ?? gone;
  }
  return gone;
}

/** Ports with a limited log, our places, and the root directory for resolving links. */
type JudgingParts = Omit<PrepareParts, "log"> & {
  readonly log: Pick<Log, "warning">;
  readonly places: OurPlaces;
  readonly root: RealTree;
  readonly becoming: TemplatePaths;
};

/**
 * Refuses to share namespaces with this process: its network carries secrets, and its processes
 * show their environments.
 */
async function requireNotUs(
  parts: JudgingParts,
  name: string,
  shared: ReturnType<typeof followedPaths>["shared"],
  signal: AbortSignal,
): Promise<void> {
  const own = (await parts.host.own(signal))?.container;
  if (own === undefined) return;
  for (const { what, name: container } of shared) {
    const details = await parts.host.engine.inspectContainer(container, signal);
    const isUs = details?.container.id === own.id;
    if (!isUs && mayName(container, own)) {
      throw unclear(name, `${what}: the container ${container}`);
    }
    if (!isUs) continue;
    throw errors.path_escapes(
      `deployment ${name}: ${what}: the container ${container} is Stackwright itself, whose ` +
        "processes, network and environment no deployment may share",
    );
  }
}

/**
 * Whether a name is a prefix of a container's id. The engine prefers another container that has it
 * as its name, but that one may be gone when the name is used.
 */
function mayName(name: string, { id }: { readonly id: string }): boolean {
  return id.startsWith(name.toLowerCase());
}

function unclear(name: string, which: string): StackwrightError {
  return errors.path_escapes(
    `deployment ${name}: ${which} has a name that begins the id of Stackwright's own container, to which ` +
      "it leads when the other one is gone; give that another name",
  );
}

/**
 * Refuses a container whose mounts include ours: they are handed on as they are, whatever its
 * project. Returns the error for a missing container.
 */
async function requireMountsNotOurs(
  parts: JudgingParts,
  name: string,
  { what, name: container }: { readonly what: string; readonly name: string },
  tree: string,
  signal: AbortSignal,
): Promise<StackwrightError | undefined> {
  const own = (await parts.host.own(signal))?.container;
  const details = await parts.host.engine.inspectContainer(container, signal);
  if (own !== undefined && mayName(container, own)) {
    const isUs = details === undefined || details.container.id === own.id;
    const which = `${what} container:${container}`;
    throw isUs ? ours(name, which) : unclear(name, which);
  }
  if (details === undefined) {
    return errors.config_invalid(`deployment ${name}: ${what}: there is no container ${container}`);
  }
  const from = `${what} container:${container}`;
  if (details.mounts.some((each) => parts.places.volumes.includes(each.name))) {
    throw ours(name, from);
  }
  const binds = details.mounts.filter(({ kind }) => kind === "bind")
    .map(({ source }) => ({ what: from, path: source, by: "engine", everywhere: true }) as const);
  const volumes = details.mounts.filter(({ kind }) => kind === "volume")
    .map((each) => [each.name, { name: each.name }]);
  const handedOn = { services: {}, volumes: Object.fromEntries(volumes) };
  const { paths, refused } = await existingVolumes(parts.host, handedOn, signal);
  if (refused[0] !== undefined) {
    throw errors.unsupported(`deployment ${name}: ${from}: ${refused[0]}; it is not supported`);
  }
  for (const each of [...binds, ...paths]) await requireNotOurs(parts, name, each, tree);
  return undefined;
}

async function requireInTree(
  parts: JudgingParts,
  name: string,
  { what, path }: FollowedPath,
  tree: string,
): Promise<void> {
  const lexically = insideTree(path, tree) !== undefined;
  if (lexically && !await new RealTree(parts.files, tree).leadsOut(path)) return;
  throw errors.path_escapes(
    `deployment ${name}: ${what} leads out of the repository: only files of the deployment's own ` +
      "source can be read",
  );
}

async function requireNotOurs(
  parts: JudgingParts,
  name: string,
  { what, path, everywhere, ofVolume, mayBeLive }: FollowedPath,
  tree: string,
): Promise<void> {
  if (everywhere !== true && insideTree(path, tree) !== undefined) return;
  const real = await placeOf(parts, path).catch((cause) => {
    throw cannotFollow(name, { what, path }, cause);
  });
  const reached = real === undefined ? [] : [path, real, onDisk(real, parts.places.mounts)];
  const unsupported = real === undefined
    ? THROUGH_PROCESS
    : ofVolume === true && reached.some((each) => insideTree(each, PROCESSES) !== undefined)
    ? SHOWS_PROCESSES
    : undefined;
  if (unsupported !== undefined) {
    throw errors.unsupported(`deployment ${name}: ${what} ${unsupported}; it is not supported`);
  }
  if (mayBeLive === true && await isOfOneStack(parts, path, real)) return;
  const { paths, scratch } = parts.places;
  const isIn = (inner: string, outer: string) => pathRelation(inner, outer) === "inside";
  if (paths.some((mine) => reached.some((each) => isIn(each, mine)))) throw ours(name, what);
  if ([...paths, ...scratch].some((mine) => reached.some((each) => isIn(mine, each)))) {
    parts.log.warning(`${what} mounts ${path}, which contains files of Stackwright itself`);
  }
  if (showsSocket(parts.host, path)) {
    const message = `${what} mounts the engine's socket: the container has all rights on the host`;
    parts.log.warning(message);
  }
}

/**
 * Refuses a mount whose templates a swarm may evaluate to an existing path that leads to our files,
 * or out of the source by a link in it.
 */
async function requireTemplatesNotOurs(
  parts: JudgingParts,
  name: string,
  followed: FollowedPath,
  tree: string,
): Promise<void> {
  const isInside = insideTree(followed.path, tree) !== undefined;
  if (!parts.host.sharesFiles && !isInside) return;
  const paths = await parts.becoming(followed.path).catch((cause) => {
    throw cannotFollow(name, followed, cause);
  });
  const judge = isInside ? requireInTree : requireNotOurs;
  for (const path of paths) await judge(parts, name, { ...followed, path }, tree);
}

/** Whether a path is written as a file in `live` of a single stack, where others may write, too. */
async function isOfOneStack(
  parts: JudgingParts,
  path: string,
  real: string | undefined,
): Promise<boolean> {
  const { dataDir } = parts.host;
  const [context = "", name = "", kind] = insideTree(path, join(dataDir, "releases"))?.split("/") ??
    [];
  if (real === undefined || kind !== "live") return false;
  const place = await placeOf(parts, stackDirectories(dataDir, { context, name }).live);
  return place !== undefined && insideTree(real, place) !== undefined;
}

/** The host path with links resolved; `undefined` for one that leads through a process. */
async function placeOf(
  { files, root, places }: JudgingParts,
  path: string,
): Promise<string | undefined> {
  if (await leadsThroughProcess(files, places.mounts, path)) return undefined;
  // The engine creates missing directories, even behind a link.
  return join("/", await nearest(root, path.slice(1)) ?? path);
}

/** Whether an engine's socket is at or below a path. */
function showsSocket({ socket }: PrepareParts["host"], path: string): boolean {
  const sockets = socket === undefined ? USUAL_SOCKETS : [...USUAL_SOCKETS, socket];
  return ENGINE_SOCKET.test(path) || sockets.some((each) => pathRelation(each, path) === "inside");
}

function cannotFollow(
  name: string,
  { what, path }: Pick<FollowedPath, "what" | "path">,
  cause: unknown,
): StackwrightError {
  const why = `${what} mounts ${path}, which cannot be followed (${messageOf(cause)}) and might ` +
    "lead to files of Stackwright itself: run it as a user that may look there, or mount another path";
  return errors.path_escapes(`deployment ${name}: ${why}`, { cause });
}

function ours(name: string, what: string): StackwrightError {
  return errors.path_escapes(
    `deployment ${name}: ${what} mounts data or secrets of Stackwright itself, which no deployment may`,
  );
}
