/** A tree on disk. */
interface StoredTree {
  /** Its directory. */
  readonly path: string;
  /** Time of its last use. */
  readonly usedAt: Date;
}

/** A time span in which containers of a stack saw a tree. */
export interface TreeSpan {
  readonly path: string;
  readonly beganAt: Date;
  /** Time at which the switch to it was complete; absent when unknown. */
  readonly doneAt?: Date;
}

/** A container that runs and may hold files of trees. */
export interface TreeHolder {
  /** Trees of each stack that it may be of, oldest first. */
  readonly stacks: readonly (readonly TreeSpan[])[];
  /** Time of its start; `undefined` when unknown. */
  readonly startedAt: Date | undefined;
}

/** Trees that running containers may hold. */
export interface HeldTrees {
  readonly trees: ReadonlySet<string>;
  /** Directories of the sources of which a container may hold any tree. */
  readonly sources: ReadonlySet<string>;
}

/** Facts that {@link obsoleteTrees} decides on. */
export interface TreeFacts {
  readonly stored: readonly StoredTree[];
  /** Trees in place, and trees of releases that are deployed or may be deployed again. */
  readonly needed: ReadonlySet<string>;
  readonly held: HeldTrees;
  /** Trees used at this time or later are kept: a preparation may work with them. */
  readonly usedBefore: Date;
  /** Tree directories beside a mirror, in which another tree may be made. */
  readonly mirrored: ReadonlySet<string>;
}

/** Milliseconds by which the clocks of the engine and this process may differ. */
const CLOCK_DIFFERENCE_MS = 5_000;

/**
 * The trees that containers may hold: those in place when they were started. Any of the sources of
 * their stacks, where the start is unknown or before all that is known of these. Never those of
 * other stacks: one container, which an engine may have made up, would keep the trees of all
 * repositories for as long as it is there.
 */
export function heldTrees(holders: readonly TreeHolder[]): HeldTrees {
  const trees = new Set<string>();
  const unclear = new Set<readonly TreeSpan[]>();
  for (const { stacks, startedAt } of holders) {
    const seen = startedAt === undefined
      ? []
      : stacks.flatMap((each) => treesSeen(each, startedAt));
    seen.forEach((path) => trees.add(path));
    if (seen.length === 0) stacks.forEach((spans) => unclear.add(spans));
  }
  const sources = [...unclear].flatMap((spans) => spans.map(({ path }) => directoryOf(path)));
  return { trees, sources: new Set(sources) };
}

/**
 * The trees that may be removed: no release needs them, no running container may hold them, and
 * nobody used them lately. The newest tree of each mirrored source stays: the next tree is made from
 * it.
 */
export function obsoleteTrees({ stored, needed, held, usedBefore, mirrored }: TreeFacts): string[] {
  const newest = newestOfEachDirectory(
    stored.filter(({ path }) => mirrored.has(directoryOf(path))),
  );
  return stored
    .filter(({ path, usedAt }) =>
      usedAt < usedBefore && !needed.has(path) && !held.trees.has(path) &&
      !held.sources.has(directoryOf(path)) && !newest.has(path)
    )
    .map((each) => each.path);
}

/**
 * The trees that may have been in place when a container was started. A tree is in place from some
 * moment before the switch to it is done until the switch to the next one is done. Where the clock was set
 * back before that one, no time tells what was started meanwhile: any container may hold the tree.
 */
function treesSeen(spans: readonly TreeSpan[], startedAt: Date): string[] {
  const at = startedAt.getTime();
  return spans.filter((span, index) => {
    const next = spans[index + 1];
    if (next !== undefined && next.beganAt < (span.doneAt ?? span.beganAt)) return true;
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
