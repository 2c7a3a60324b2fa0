/** A tree on disk. */
interface StoredTree {
  /** Its directory. */
  readonly path: string;
  /** Time of its last use. */
  readonly usedAt: Date;
}

/** A time span in which containers of a stack saw a tree. */
interface TreeSpan {
  readonly path: string;
  readonly beganAt: Date;
  /** Time at which the switch to it was complete; absent when unknown. */
  readonly doneAt?: Date;
}

/** Containers of a stack that run and may hold files of its trees. */
export interface TreeHolders {
  /** The stack's trees, oldest first. */
  readonly spans: readonly TreeSpan[];
  /** Start time of each container; `undefined` when unknown. */
  readonly startedAt: readonly (Date | undefined)[];
}

/** Facts that {@link obsoleteTrees} decides on. */
export interface TreeFacts {
  readonly stored: readonly StoredTree[];
  /** Trees in place, and trees of releases that are deployed or may be deployed again. */
  readonly needed: ReadonlySet<string>;
  readonly holders: readonly TreeHolders[];
  /** Trees used at this time or later are kept: a preparation may work with them. */
  readonly usedBefore: Date;
  /** Tree directories beside a mirror, in which another tree may be made. */
  readonly mirrored: ReadonlySet<string>;
}

/** Milliseconds by which the clocks of the engine and this process may differ. */
const CLOCK_DIFFERENCE_MS = 5_000;

/**
 * The trees that may be removed: no release needs them, no running container can have started while
 * they were in place, and nobody used them lately. Without the start time of a container, all trees
 * of its stack's sources stay; without knowledge of what it may hold, all trees stay. The newest
 * tree of each mirrored source stays: the next tree is made from it.
 */
export function obsoleteTrees(facts: TreeFacts): string[] {
  const held = new Set<string>();
  const unclear = new Set<string>();
  for (const { spans, startedAt } of facts.holders) {
    for (const each of startedAt) {
      const seen = each === undefined ? spans.map(({ path }) => path) : treesSeen(spans, each);
      if (seen.length === 0) return [];
      if (each === undefined) seen.forEach((path) => unclear.add(directoryOf(path)));
      else seen.forEach((path) => held.add(path));
    }
  }
  const newest = newestOfEachDirectory(
    facts.stored.filter(({ path }) => facts.mirrored.has(directoryOf(path))),
  );
  return facts.stored
    .filter(({ path, usedAt }) =>
      usedAt < facts.usedBefore && !facts.needed.has(path) && !held.has(path) &&
      !unclear.has(directoryOf(path)) && !newest.has(path)
    )
    .map((each) => each.path);
}

/**
 * The trees that may have been in place when a container was started. A tree is in place from some
 * moment before the switch to it is done until the switch to the next one is done.
 */
function treesSeen(spans: readonly TreeSpan[], startedAt: Date): string[] {
  const at = startedAt.getTime();
  return spans.filter((span, index) => {
    const next = spans[index + 1];
    const ended = next === undefined ? undefined : next.doneAt ?? spans[index + 2]?.doneAt;
    return at >= span.beganAt.getTime() - CLOCK_DIFFERENCE_MS &&
      (ended === undefined || at <= ended.getTime() + CLOCK_DIFFERENCE_MS);
  }).map((span) => span.path);
}

function newestOfEachDirectory(stored: readonly StoredTree[]): ReadonlySet<string> {
  const newest = new Map<string, StoredTree>();
  for (const tree of stored) {
    const directory = directoryOf(tree.path);
    const known = newest.get(directory);
    if (known === undefined || known.usedAt < tree.usedAt) newest.set(directory, tree);
  }
  return new Set([...newest.values()].map((each) => each.path));
}

/** The directory of all trees of a source. */
function directoryOf(tree: string): string {
  return tree.slice(0, tree.lastIndexOf("/"));
}
