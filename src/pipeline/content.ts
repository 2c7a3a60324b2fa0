import { posix } from "node:path";
import type { Revision } from "../model/mod.ts";
import type { Source } from "../source/source.ts";

/** Stands for a path that has nothing. */
export const ABSENT = "absent";

/**
 * The identity of what a revision has at each of `paths`: equal texts mean equal content. A path
 * inside a submodule has the identity of the submodule, whose commit covers it.
 */
export async function contentIds(
  source: Source,
  revision: Revision,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const asked = new Set(paths.flatMap((path) => [path, ...parents(path)]));
  const entries = await source.entries(revision, [...asked], signal);
  return new Map(paths.map((path) => {
    const entry = entries.get(path);
    if (entry !== undefined) return [path, `${entry.kind}:${entry.id}`];
    const submodule = parents(path).map((parent) => entries.get(parent))
      .find((parent) => parent?.kind === "submodule");
    return [path, submodule === undefined ? ABSENT : `submodule:${submodule.id}`];
  }));
}

function parents(path: string): string[] {
  const found: string[] = [];
  for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) {
    found.push(at);
  }
  return found;
}
