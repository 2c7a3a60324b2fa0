import type { TreeUse } from "./tree_paths.ts";

/** Which paths of a release are served from `live/`, and what has to be there. */
export interface LivePaths {
  /** Whether containers see `live/<path>` rather than `current/<path>`. */
  isLive(path: string): boolean;
  /** Live paths that the source has content for. */
  readonly tracked: readonly string[];
  /** Live paths that the source has nothing for: directories for containers to fill. */
  readonly untracked: readonly string[];
}

/**
 * A mounted path is live when a container may write to it, when it is kept up to date in place
 * (`inPlace`), when it overlaps such a path (all containers must see the same bytes), or when the
 * source has nothing there: the engine would create a missing mount source, and that must not happen
 * inside an immutable tree.
 */
export function livePaths(
  uses: readonly TreeUse[],
  inPlace: ReadonlySet<TreeUse>,
  exists: (path: string) => boolean,
): LivePaths {
  const mounted = [...new Set(uses.filter((use) => use.kind !== "build").map((use) => use.path))];
  const written = uses.filter((use) => use.writable || inPlace.has(use)).map((use) => use.path);
  const live = new Set(
    mounted.filter((path) => !exists(path) || written.some((other) => overlaps(path, other))),
  );
  return {
    isLive: (path) => live.has(path),
    tracked: [...live].filter(exists).sort(),
    untracked: [...live].filter((path) => !exists(path)).sort(),
  };
}

/** Whether two paths of the tree are the same or one contains the other. */
function overlaps(a: string, b: string): boolean {
  const inside = (inner: string, outer: string) =>
    outer === "." || inner === outer || inner.startsWith(outer + "/");
  return inside(a, b) || inside(b, a);
}
