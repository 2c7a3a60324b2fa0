/** A tree on disk. */
interface StoredTree {
  /** Its directory. */
  readonly path: string;
  /** Time at which somebody asked for it last. */
  readonly usedAt: Date;
}

/** A tree that the containers of a stack saw from one moment on. */
interface TreeSpan {
  readonly path: string;
  readonly beganAt: Date;
  /** Time at which it was certainly in place; absent when that is not known. */
  readonly doneAt?: Date;
}

/** The running containers of a stack that hold files of its trees. */
export interface TreeHolders {
  /** What its files were, in their order. */
  readonly spans: readonly TreeSpan[];
  /** Time at which each of the containers was started; `undefined` where that is not known. */
  readonly startedAt: readonly (Date | undefined)[];
}

/** Facts that {@link obsoleteTrees} decides on. */
export interface TreeFacts {
  readonly stored: readonly StoredTree[];
  /** Trees that are in place, or that a release is deployed from, or may be again. */
  readonly needed: ReadonlySet<string>;
  readonly holders: readonly TreeHolders[];
  /** Trees used at this time or later are kept: a preparation may work with them. */
  readonly usedBefore: Date;
  /** Directories of trees that another one may be made from: beside them is their repository's mirror. */
  readonly mirrored: ReadonlySet<string>;
}

/** Milliseconds by which the engine's clock and ours may differ. */
const CLOCK_DIFFERENCE_MS = 5_000;

/**
 * The trees that may be removed: no release needs them, no running container can have been started
 * while they were in place, nobody asked for them lately. When it is not known when a container was
 * started, none of its stack's sources is; when nothing is known of what it may hold, nothing is. The
 * newest tree beside each other is kept while there is a mirror: the next one is made from it.
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
 * The trees that may have been in place when a container was started. A tree is in place from a
 * moment before the switch to it was done until the switch to the next one is done.
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
