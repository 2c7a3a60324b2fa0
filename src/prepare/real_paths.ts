import { dirname, join } from "node:path";
import { RealTree } from "../deploy/mod.ts";
import { errors, type StackwrightError } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** Characters that a path may have: as many as the kernel takes bytes. */
const LONGEST = 4096;

/**
 * The real places of paths below the tree, links resolved; what links lead out of it belongs to the
 * host, or to us. Throws `path_escapes`, and `config_invalid` for a path that is not there. A link to
 * nothing counts as one that leads out: otherwise a repository could ask which files the host has.
 */
export async function requireInside(
  { files }: Pick<PrepareParts, "files">,
  directory: string,
  paths: readonly string[],
): Promise<string[]> {
  const tree = new RealTree(files, directory);
  const found: string[] = [];
  for (const path of paths) {
    const { real, inside } = await tree.at(path);
    if (inside === undefined && real === undefined && !await isLinked(tree, path)) {
      throw errors.config_invalid(`${path} does not exist in the repository`);
    }
    if (inside === undefined) throw leadsOut(path, " or nowhere");
    found.push(inside);
  }
  return found;
}

/** True when a component of a path in the tree is a link. */
async function isLinked(tree: RealTree, path: string): Promise<boolean> {
  if (path === "." || path === "") return false;
  return await tree.isLink(path) || await isLinked(tree, dirname(path));
}

/**
 * The real place of each path in the tree, links resolved; of a missing one as far as there is
 * something. Throws `path_escapes` for one that links lead out of the tree, `config_invalid` for one that is
 * too long for any file.
 */
export async function realPaths(
  { files }: Pick<PrepareParts, "files">,
  directory: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const tree = new RealTree(files, directory);
  const found = new Map<string, string>();
  for (const path of new Set(paths)) {
    if (path.length > LONGEST) throw tooLong(path);
    const inside = await nearest(tree, path);
    if (inside === undefined) throw leadsOut(path);
    found.set(path, inside);
  }
  return found;
}

/** Whether any of the paths that {@link realPaths} found is reached through a link. */
export function hasLinks(real: ReadonlyMap<string, string>): boolean {
  return [...real].some(([path, found]) => path !== found);
}

/**
 * Where the longest part of a path in a tree leads that is there, and the rest; `undefined` where that is
 * elsewhere. What is below nothing is nowhere, so that few of all parts are looked at: a path may have
 * thousands.
 */
export async function nearest(tree: RealTree, path: string): Promise<string | undefined> {
  const { real, inside } = await tree.at(path);
  if (real !== undefined) return inside;
  const parts = path.split("/");
  // The directory of the tree itself is always there.
  let [there, missing, above]: [number, number, string | undefined] = [0, parts.length, "."];
  while (missing - there > 1) {
    // Most are short, or nowhere from the beginning.
    const middle = Math.min(2 * there + 1, (there + missing) >> 1);
    const found = await tree.at(parts.slice(0, middle).join("/"));
    if (found.real === undefined) missing = middle;
    else [there, above] = [middle, found.inside];
  }
  return above === undefined ? undefined : join(above, ...parts.slice(there));
}

function leadsOut(path: string, orNowhere = ""): StackwrightError {
  return errors.path_escapes(`${path} leads out of the repository${orNowhere}`);
}

function tooLong(path: string): StackwrightError {
  return errors.config_invalid(
    `the path ${path.slice(0, 100)}... has ${path.length} characters, the most is ${LONGEST}`,
  );
}
