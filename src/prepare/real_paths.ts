import { basename, dirname, join, relative } from "node:path";
import { insideTree } from "../compose/mod.ts";
import { StackwrightError } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";

/**
 * Refuses paths that links lead out of the tree: what is there belongs to the host, or to us. Throws
 * `path_escapes`, and `config_invalid` for a path that is not there. A link to nothing counts as one that
 * leads out: otherwise a repository could ask which files the host has.
 */
export async function requireInside(
  parts: PrepareParts,
  tree: string,
  paths: readonly string[],
): Promise<void> {
  const root = await parts.files.realPath(tree) ?? tree;
  for (const path of paths) {
    const real = await parts.files.realPath(join(tree, path));
    if (real !== undefined && insideTree(real, root) !== undefined) continue;
    if (real === undefined && !await isLinked(parts, tree, path)) {
      throw new StackwrightError("config_invalid", `${path} does not exist in the repository`);
    }
    throw new StackwrightError(
      "path_escapes",
      `${path} leads out of the repository or nowhere`,
    );
  }
}

/** True when a component of a path in the tree is a link. */
async function isLinked(parts: PrepareParts, tree: string, path: string): Promise<boolean> {
  if (path === "." || path === "") return false;
  if ((await parts.files.stat(join(tree, path)))?.kind === "symlink") return true;
  return await isLinked(parts, tree, dirname(path));
}

/**
 * The real place of each path in the tree, links resolved; of a missing one as far as there is
 * something. Throws `path_escapes` for one that links lead out of the tree.
 */
export async function realPaths(
  parts: PrepareParts,
  tree: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const root = await parts.files.realPath(tree) ?? tree;
  const found = new Map<string, string>();
  for (const path of new Set(paths)) {
    const real = await nearestReal(parts, tree, path);
    if (insideTree(real, root) === undefined) {
      throw new StackwrightError("path_escapes", `${path} leads out of the repository`);
    }
    found.set(path, relative(root, real) || ".");
  }
  return found;
}

/** Whether any of the paths that {@link realPaths} found is reached through a link. */
export function hasLinks(real: ReadonlyMap<string, string>): boolean {
  return [...real].some(([path, found]) => path !== found);
}

/** A directory of the tree itself is always there, so that this ends. */
async function nearestReal(parts: PrepareParts, tree: string, path: string): Promise<string> {
  const real = await parts.files.realPath(join(tree, path));
  if (real !== undefined) return real;
  if (path === "." || path === "") return tree;
  return join(await nearestReal(parts, tree, dirname(path)), basename(path));
}

/** True when there is a link at a path of the tree that leads nowhere. */
export async function isDangling(
  parts: PrepareParts,
  tree: string,
  path: string,
): Promise<boolean> {
  const place = join(tree, path);
  return await parts.files.realPath(place) === undefined &&
    (await parts.files.stat(place))?.kind === "symlink";
}
