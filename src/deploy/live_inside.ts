import { join } from "node:path";
import { insideTree, isObject, plainDollars } from "../compose/mod.ts";
import { type ComposeModel, errors } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";
import { RealTree } from "./real_tree.ts";
import { templatePaths } from "./template_paths.ts";

/**
 * Checks that no link leads one of `paths` in `live` out of it: a mount there is whatever the engine
 * finds behind the link. A path with templates is also each existing path that a swarm may make of it.
 *
 * Throws `path_escapes`, also for templates that fit too much to look at.
 */
export async function requireLiveInside(
  files: Pick<Files, "listAtMost" | "realPath" | "stat">,
  live: string,
  paths: Iterable<string>,
): Promise<void> {
  const tree = new RealTree(files, live);
  const becoming = templatePaths(files);
  for (const path of paths) {
    const made = await becoming(join(live, path));
    for (const each of [path, ...made.flatMap((each) => insideTree(each, live) ?? [])]) {
      if (await tree.holds(each)) continue;
      throw errors.path_escapes(
        `${live}/${each} leads out of the stack's live files: a container put a link there; remove it`,
      );
    }
  }
}

/** Paths of a model below a directory, relative to that. */
export function pathsBelow(model: ComposeModel, directory: string): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      const path = value.startsWith("/") ? insideTree(plainDollars(value), directory) : undefined;
      if (path !== undefined) found.add(path);
    } else if (Array.isArray(value)) value.forEach(look);
    else if (isObject(value)) Object.values(value).forEach(look);
  };
  look(model);
  return found;
}
