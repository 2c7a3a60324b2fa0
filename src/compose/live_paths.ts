import { extname, join } from "node:path/posix";
import { placeAmong } from "../model/mod.ts";
import { withoutLonger } from "./contained.ts";
import type { TreeUse } from "./tree_paths.ts";

/** Paths of a release that are served from `live/`. */
export interface LivePaths {
  /** Whether containers see a path in `live` instead of `current`. */
  isLive(path: string): boolean;
  /**
   * The path that containers mount, relative to the stack's directory: `current/<path>`, or `live/`
   * with links resolved, since `live` lacks the targets of links.
   */
  placeOf(path: string): string;
  /** Live paths with content in the source. */
  readonly tracked: readonly string[];
  /** Live paths without content in the source: directories for containers to fill. */
  readonly untracked: readonly string[];
  /**
   * Uses of untracked paths that no container can fill, since none may write there or a file is meant:
   * containers see an empty directory.
   */
  readonly unfilled: readonly TreeUse[];
}

/**
 * A mounted path is live if a container may write to it, if it is updated in place (`inPlace`), if
 * it overlaps such a path (all containers must see the same bytes), or if the source has nothing
 * there: the engine would create a missing mount source, which must not happen inside an immutable
 * tree.
 *
 * `realPath` resolves links in the tree; `tracked`, `untracked` and what `exists` gets are resolved.
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
      return use.kind !== "build" && !exists(path) && (!overlapsWritten(path) || meansFile(use));
    }),
  };
}

/** Whether both ends of a mount are called like a file: what is missing, the engine makes a directory. */
function meansFile({ path, item }: TreeUse): boolean {
  return extname(path) !== "" && extname(path) === extname(item);
}

/**
 * Makes a function that tells whether a path equals, contains or lies inside one of the others.
 * Uses binary search, since a project may have tens of thousands of mounts.
 */
function overlapping(others: readonly string[]): (path: string) => boolean {
  // With a final slash, a path is sorted directly before everything inside of it.
  const withEnd = (path: string) => path === "." ? "" : `${path}/`;
  const outermost = withoutLonger(others.map(withEnd));
  return (path) => {
    const wanted = withEnd(path);
    const at = placeAmong(outermost, (each) => each < wanted);
    const [before, after] = [outermost[at - 1], outermost[at]];
    return before !== undefined && wanted.startsWith(before) ||
      after !== undefined && after.startsWith(wanted);
  };
}
