import { join } from "node:path/posix";
import { withoutLonger } from "./contained.ts";
import type { TreeUse } from "./tree_paths.ts";

/** Paths of a release that are served from `live/`, and what has to be there. */
export interface LivePaths {
  /** Whether containers see a path from `live` rather than from `current`. */
  isLive(path: string): boolean;
  /**
   * What containers see a path as, from the directory of the stack: `current/<path>`, or `live/` with
   * the path that links lead to, because what they lead to is not beside them there.
   */
  placeOf(path: string): string;
  /** Live paths that the source has content for. */
  readonly tracked: readonly string[];
  /** Live paths that the source has nothing for: directories for containers to fill. */
  readonly untracked: readonly string[];
  /** Uses of those that no container may write to: they see an empty directory. */
  readonly unfilled: readonly TreeUse[];
}

/**
 * A mounted path is live when a container may write to it, when it is kept up to date in place
 * (`inPlace`), when it overlaps such a path (all containers must see the same bytes), or when the
 * source has nothing there: the engine would create a missing mount source, and that must not happen
 * inside an immutable tree.
 *
 * `realPath` says where a path really lies in the tree, links resolved; `tracked` and `untracked` are
 * such paths, and `exists` is asked for them.
 */
export function livePaths(
  uses: readonly TreeUse[],
  inPlace: ReadonlySet<TreeUse>,
  exists: (path: string) => boolean,
  realPath: (path: string) => string = (path) => path,
): LivePaths {
  const paths = (chosen: readonly TreeUse[]) => chosen.map((use) => realPath(use.path));
  const mounted = [...new Set(paths(uses.filter((use) => use.kind !== "build")))];
  const written = paths(uses.filter((use) => use.writable || inPlace.has(use)));
  const overlapsWritten = overlapping(written);
  const live = new Set(mounted.filter((path) => !exists(path) || overlapsWritten(path)));
  return {
    isLive: (path) => live.has(realPath(path)),
    placeOf: (path) =>
      live.has(realPath(path)) ? join("live", realPath(path)) : join("current", path),
    tracked: [...live].filter(exists).sort(),
    untracked: [...live].filter((path) => !exists(path)).sort(),
    unfilled: uses.filter((use) => {
      const path = realPath(use.path);
      return use.kind !== "build" && !exists(path) && !overlapsWritten(path);
    }),
  };
}

/**
 * Tells whether a path of the tree is one of some others, is inside of one or contains one. A project may
 * mount ten thousands, so nothing is compared with everything.
 */
function overlapping(others: readonly string[]): (path: string) => boolean {
  // With its end, a path comes before everything inside of it, and nothing else comes between.
  const withEnd = (path: string) => path === "." ? "" : `${path}/`;
  const outermost = withoutLonger(others.map(withEnd));
  return (path) => {
    const wanted = withEnd(path);
    let [from, to] = [0, outermost.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((outermost[middle] ?? "") < wanted) from = middle + 1;
      else to = middle;
    }
    const [before, after] = [outermost[from - 1], outermost[from]];
    return before !== undefined && wanted.startsWith(before) ||
      after !== undefined && after.startsWith(wanted);
  };
}
