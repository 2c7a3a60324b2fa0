import { basename, dirname, join } from "node:path";
import { RealTree } from "../deploy/mod.ts";
import { StackwrightError } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";

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
      throw new StackwrightError("config_invalid", `${path} does not exist in the repository`);
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
 * something. Throws `path_escapes` for one that links lead out of the tree.
 */
export async function realPaths(
  { files }: Pick<PrepareParts, "files">,
  directory: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const tree = new RealTree(files, directory);
  const found = new Map<string, string>();
  for (const path of new Set(paths)) {
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

/** A directory of the tree itself is always there, so that this ends. */
async function nearest(tree: RealTree, path: string): Promise<string | undefined> {
  const { real, inside } = await tree.at(path);
  if (real !== undefined) return inside;
  if (path === "." || path === "") return ".";
  const above = await nearest(tree, dirname(path));
  return above === undefined ? undefined : join(above, basename(path));
}

function leadsOut(path: string, orNowhere = ""): StackwrightError {
  return new StackwrightError("path_escapes", `${path} leads out of the repository${orNowhere}`);
}
