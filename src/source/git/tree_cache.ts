import { MOST_ENTRIES } from "./tree_object.ts";

/** Cost of a tree besides its entries, in entries. */
const A_TREE = 1;

type Tree<T> = ReadonlyMap<string, T>;

/** A tree that is cached, and the cached trees of its repository. */
interface Kept<T> {
  readonly id: string;
  readonly tree: Tree<T>;
  readonly among: Map<string, Kept<T>>;
}

/** The cached trees of one repository. */
export interface OwnTrees<T> {
  /** A tree by its id; `undefined` when it is not cached. */
  get(id: string): Tree<T> | undefined;
  /** Caches a tree; the ones that were cached first are forgotten for it, whosever they are. */
  keep(id: string, tree: Tree<T>): void;
  /** Forgets all of this repository's. */
  forget(): void;
}

/**
 * Trees that were read lately, of all repositories together: deployments may name any number of
 * repositories and commits, each of which could fill a cache of its own. Ids stand for content, so
 * trees never become stale.
 */
export class TreeCache<T> {
  /** Oldest first. */
  readonly #kept = new Set<Kept<T>>();
  readonly #most: number;
  #size = 0;

  /** A cache of at most so many entries; by default all directories of the largest commit fit. */
  constructor(most = 2 * MOST_ENTRIES) {
    this.#most = most;
  }

  /** An empty part for one repository, whose ids may be the same as those of others. */
  part(): OwnTrees<T> {
    const own = new Map<string, Kept<T>>();
    return {
      get: (id) => own.get(id)?.tree,
      keep: (id, tree) => {
        this.#drop(own.get(id));
        const kept = { id, tree, among: own };
        own.set(id, kept);
        this.#kept.add(kept);
        this.#size += tree.size + A_TREE;
        for (const oldest of this.#kept) {
          if (this.#size <= this.#most) break;
          this.#drop(oldest);
        }
      },
      forget: () => {
        for (const each of own.values()) this.#drop(each);
      },
    };
  }

  #drop(kept: Kept<T> | undefined): void {
    if (kept === undefined) return;
    kept.among.delete(kept.id);
    this.#kept.delete(kept);
    this.#size -= kept.tree.size + A_TREE;
  }
}
