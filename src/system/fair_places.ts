import { abortableWait } from "./abortable_wait.ts";
import { count } from "./count.ts";

/** Whose work it is: a source of configurations, and the repository that it deploys, which may be its own. */
export interface Whose {
  readonly source: string;
  readonly repository: string;
}

/** Places of a key, and how many may be taken for a source that has none of them yet to get one. */
interface Size {
  readonly places: number;
  readonly mostForFirst: number;
}

/** Somebody who waits for places. */
interface Waiting extends Whose {
  readonly keys: readonly string[];
}

/**
 * Places that are shared by sources, of which each key has some. Where all are taken, a source still gets one while
 * it has fewer than its share, which is what there is divided by all that have some. Another repository that a source
 * deploys has at most as many as it leaves to the others of that source: how long it keeps them is up to its author,
 * who is not that source's.
 */
export class FairPlaces {
  readonly #sizeOf: (key: string) => Size;
  /** Numbers of places by key and source, and by key with source and repository. */
  readonly #taken = new Map<string, Map<string, number>>();
  /** Those who wait, by their first key and by who tries to enter, in order of arrival. */
  readonly #waiting = new Map<string, Map<() => boolean, Waiting>>();

  /** `sizeOf` tells how many places a key has. */
  constructor(sizeOf: (key: string) => Size) {
    this.#sizeOf = sizeOf;
  }

  /** Takes a place of each key where all have one; tells whether they do. */
  take(whose: Whose, keys: readonly string[]): boolean {
    if (!keys.every((key) => this.#hasPlace(whose, key))) return false;
    this.#note(whose, keys, 1);
    return true;
  }

  /** Waits until it has a place of each key. Rejects with the signal's reason. */
  place(whose: Whose, keys: readonly [string, ...string[]], signal: AbortSignal): Promise<void> {
    return abortableWait((entered) => {
      const waiting = this.#waiting.getOrInsertComputed(keys[0], () => new Map());
      const leave = () => {
        waiting.delete(enter);
        if (waiting.size === 0) this.#waiting.delete(keys[0]);
      };
      const enter = () => {
        if (!this.take(whose, keys)) return false;
        leave();
        entered();
        return true;
      };
      waiting.set(enter, { ...whose, keys });
      return leave;
    }, signal);
  }

  /** Gives places back; those with the fewest enter first. */
  free(whose: Whose, keys: readonly [string, ...string[]]): void {
    this.#note(whose, keys, -1);
    const [key] = keys;
    const own = (each: Waiting) => [this.#of(key, each.source), this.#ofPart(key, each)] as const;
    const inOrder = [...this.#waiting.get(key) ?? []]
      .map(([enter, each]) => ({ enter, each, own: own(each) }))
      .sort(({ own: one }, { own: other }) => one[0] - other[0] || one[1] - other[1]);
    // What keeps one of them keeps all that are alike.
    const kept = new Set<string>();
    for (const { enter, each } of inOrder) {
      const alike = JSON.stringify([each.source, each.repository, ...each.keys]);
      if (!kept.has(alike) && !enter()) kept.add(alike);
    }
  }

  #hasPlace(whose: Whose, key: string): boolean {
    const { places, mostForFirst } = this.#sizeOf(key);
    const sources = this.#taken.get(key) ?? new Map<string, number>();
    const own = this.#of(key, whose.source);
    const share = Math.floor(places / (sources.size + (own === 0 ? 1 : 0)));
    const most = own === 0 ? mostForFirst : places;
    const left = Math.max(
      share - own,
      most - sources.values().reduce((sum, each) => sum + each, 0),
    );
    return this.#ofPart(key, whose) < left;
  }

  #of(key: string, name: string): number {
    return this.#taken.get(key)?.get(name) ?? 0;
  }

  /** Number of places of another's repository within its source; none for a source's own. */
  #ofPart(key: string, { source, repository }: Whose): number {
    return this.#of(partOf(key, source), repository);
  }

  #note({ source, repository }: Whose, keys: readonly string[], by: 1 | -1): void {
    const noteOne = (key: string, name: string) => {
      const taken = this.#taken.getOrInsertComputed(key, () => new Map());
      count(taken, name, by);
      if (taken.size === 0) this.#taken.delete(key);
    };
    for (const key of keys) {
      noteOne(key, source);
      if (repository !== source) noteOne(partOf(key, source), repository);
    }
  }
}

function partOf(key: string, source: string): string {
  return JSON.stringify([key, source]);
}
