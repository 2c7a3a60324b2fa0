import { dirname, join } from "node:path";
import { RealTree } from "../deploy/mod.ts";
import { clip, errors, type StackwrightError } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** Longest path in characters; the kernel allows as many bytes. */
const LONGEST = 4096;

/**
 * Paths below the tree with links resolved; files outside of it belong to the host, or to us.
 * Throws `path_escapes`, and `config_invalid` for a missing path. A dangling link counts as leading
 * out: otherwise a repository could find out which files the host has.
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

/** Whether a component of a path in the tree is a link. */
async function isLinked(tree: RealTree, path: string): Promise<boolean> {
  if (path === "." || path === "") return false;
  return await tree.isLink(path) || await isLinked(tree, dirname(path));
}

/**
 * Each path in the tree with links resolved; for a missing one, those of its existing part. Throws
 * `path_escapes` for one that links lead out of the tree, `config_invalid` for one that is too long.
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

/** Whether {@link realPaths} followed a link for one of the paths. */
export function hasLinks(real: ReadonlyMap<string, string>): boolean {
  return [...real].some(([path, found]) => path !== found);
}

/**
 * The longest existing part of a path in a tree with links resolved, and the rest of the path
 * appended; `undefined` if it lies outside. Searches by bisection, since a path may have thousands
 * of parts and nothing exists below a missing one.
 */
export async function nearest(tree: RealTree, path: string): Promise<string | undefined> {
  const { real, inside } = await tree.at(path);
  if (real !== undefined) return inside;
  const parts = path.split("/");
  // The tree's root always exists.
  let [there, missing, above]: [number, number, string | undefined] = [0, parts.length, "."];
  while (missing - there > 1) {
    // Starts with short prefixes: most paths are short, or missing from the beginning.
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
    `the path ${clip(path, 100)} has ${path.length} characters, the most is ${LONGEST}`,
  );
}
