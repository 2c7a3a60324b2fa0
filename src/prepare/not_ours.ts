import { basename, dirname, join, relative } from "node:path/posix";
import {
  type FollowedPath,
  insideTree,
  pathRelation,
  PROCESSES,
  SHOWS_PROCESSES,
  THROUGH_PROCESS,
} from "../compose/mod.ts";
import { onDisk, type RealTree, stackDirectories, stackPlaceOf } from "../deploy/mod.ts";
import { errors, messageOf, type StackwrightError } from "../model/mod.ts";
import type { Log } from "../system/mod.ts";
import type { OurPlaces, PlaceParts } from "./our_places.ts";
import { leadsThroughProcess } from "./process_links.ts";
import { nearest } from "./real_paths.ts";

/** Sockets of engines: access to one gives the engine's rights on the host. */
const ENGINE_SOCKET = /\/(?:docker|podman)\.sock$/;
const USUAL_SOCKETS = ["/run/docker.sock", "/var/run/docker.sock"];

/** Ports for judging where paths lead: with a limited log, our places, and the root directory. */
export type JudgingParts = PlaceParts & {
  readonly log: Pick<Log, "warning">;
  readonly places: OurPlaces;
  readonly root: RealTree;
};

/**
 * Refuses a path that the engine mounts if it leads to our places. Paths in `tree` are rewritten to
 * the stack's own files, and pass unless they count `everywhere`.
 *
 * Throws `path_escapes`, and `unsupported` for a path through processes.
 */
export async function requireNotOurs(
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
  if (paths.some((mine) => reached.some((each) => isIn(each, mine)))) {
    const out = wayOut(path, tree);
    throw out === undefined ? ours(name, what, path) : leadsOut(name, what, out);
  }
  if ([...paths, ...scratch].some((mine) => reached.some((each) => isIn(mine, each)))) {
    parts.log.warning(`${what} mounts ${path}, which contains files of Stackwright itself`);
  }
  if (showsSocket(parts.host, path)) {
    const message = `${what} mounts the engine's socket: the container has all rights on the host`;
    parts.log.warning(message);
  }
}

/** Whether a path is written as a file in `live` of a single stack, where others may write, too. */
async function isOfOneStack(parts: JudgingParts, path: string, real: string | undefined) {
  const { dataDir } = parts.host;
  const written = stackPlaceOf(dataDir, path);
  if (real === undefined || written?.kind !== "live") return false;
  const place = await placeOf(parts, stackDirectories(dataDir, written.key).live);
  return place !== undefined && insideTree(real, place) !== undefined;
}

/** The host path with links resolved; `undefined` for one that leads through a process. */
async function placeOf({ files, root, places }: JudgingParts, path: string) {
  if (await leadsThroughProcess(files, places.mounts, path)) return undefined;
  // The engine creates missing directories, even behind a link.
  return join("/", await nearest(root, path.slice(1)) ?? path);
}

/** Whether an engine's socket is at or below a path. */
function showsSocket({ socket }: PlaceParts["host"], path: string): boolean {
  const sockets = socket === undefined ? USUAL_SOCKETS : [...USUAL_SOCKETS, socket];
  return ENGINE_SOCKET.test(path) || sockets.some((each) => pathRelation(each, path) === "inside");
}

/** The error for a path that this process may not follow. */
export function cannotFollow(
  name: string,
  { what, path }: Pick<FollowedPath, "what" | "path">,
  cause: unknown,
): StackwrightError {
  const why = `${what} mounts ${path}, which cannot be followed (${messageOf(cause)}) and might ` +
    "lead to files of Stackwright itself: run it as a user that may look there, or mount another path";
  return errors.path_escapes(`deployment ${name}: ${why}`, { cause });
}

/** A path from the root of the repository, if it leads to what is beside its trees, or two directories further up. */
function wayOut(path: string, tree: string): string | undefined {
  const isTree = basename(dirname(tree)) === "trees";
  return isTree && insideTree(path, join(tree, "../../..")) !== undefined
    ? relative(tree, path)
    : undefined;
}

/** The error for a mount by a relative path that leads out of the repository. */
function leadsOut(name: string, what: string, from: string): StackwrightError {
  return errors.path_escapes(
    `deployment ${name}: ${what} leads out of the repository (${from} from its root), which no deployment ` +
      "may mount: put it into the repository, or write an absolute path",
  );
}

/** The error for a mount of our data; `where` is its path, if known. */
export function ours(name: string, what: string, where = ""): StackwrightError {
  return errors.path_escapes(
    `deployment ${name}: ${what} mounts data or secrets of Stackwright itself, which no deployment may` +
      (where === "" ? "" : ` (${where}): keep what it needs elsewhere, and mount that`),
  );
}
