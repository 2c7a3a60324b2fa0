/** Bytes of an entry besides its name: its map's, its id's and those of its fields. */
const AN_ENTRY = 300;
/** Bytes of a character, of which some texts have two. */
const A_CHARACTER = 2;

type Tree<T> = ReadonlyMap<string, T>;

/** A tree that is cached, and what it weighs in bytes. */
interface Kept<T> {
  readonly tree: Tree<T>;
  readonly weight: number;
}

/** The cached trees of one repository, oldest first, and their weight. */
interface Part<T> {
  readonly trees: Map<string, Kept<T>>;
  weight: number;
}

/** The cached trees of one repository. */
export interface OwnTrees<T> {
  get(id: string): Tree<T> | undefined;
  /** Caches a tree; for it, the first cached ones of the repository with the most are forgotten. */
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
  /** The repository that got a tree last at the end. */
  readonly #parts = new Set<Part<T>>();
  readonly #most: number;
  #weight = 0;

  /** A cache of at most so many bytes; by default about all directories of the largest commit fit. */
  constructor(most = 64 * 1024 * 1024) {
    this.#most = most;
  }

  /** An empty part for one repository, whose ids may be the same as those of others. */
  part(): OwnTrees<T> {
    const own: Part<T> = { trees: new Map(), weight: 0 };
    return {
      get: (id) => own.trees.get(id)?.tree,
      keep: (id, tree) => {
        this.#drop(own, id);
        const weight = weightOf(tree);
        own.trees.set(id, { tree, weight });
        this.#add(own, weight);
        this.#parts.delete(own);
        this.#parts.add(own);
        while (this.#weight > this.#most) this.#dropOne();
      },
      forget: () => {
        for (const id of own.trees.keys()) this.#drop(own, id);
      },
    };
  }

  #dropOne(): void {
    let most: Part<T> | undefined;
    for (const part of this.#parts) if (part.weight > (most?.weight ?? 0)) most = part;
    for (const id of most?.trees.keys() ?? []) return this.#drop(most as Part<T>, id);
  }

  #drop(part: Part<T>, id: string): void {
    const kept = part.trees.get(id);
    if (kept === undefined) return;
    part.trees.delete(id);
    this.#add(part, -kept.weight);
    if (part.trees.size === 0) this.#parts.delete(part);
  }

  #add(part: Part<T>, weight: number): void {
    part.weight += weight;
    this.#weight += weight;
  }
}

/** What a tree weighs in bytes, at most about. */
export function weightOf(tree: Tree<unknown>): number {
  let characters = 0;
  for (const name of tree.keys()) characters += name.length;
  return AN_ENTRY * (tree.size + 1) + A_CHARACTER * characters;
}
