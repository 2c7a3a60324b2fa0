import { atEnd } from "./at_end.ts";
import { abortableWait } from "./abortable_wait.ts";
import type { Clock } from "./clock.ts";
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

/** Names of what has places, of which the first one is what is waited at. */
type Keys = readonly [string, ...string[]];

/** Somebody who waits for places. */
interface Waiting extends Whose {
  readonly keys: Keys;
  /** Whether it has waited for {@link LATE_MS}. */
  isLate: boolean;
}

/** Milliseconds after which a repository without any place gets one beside those that others keep. */
export const LATE_MS = 60_000;

/**
 * Places that are shared by sources, of which each key has some. Where all are taken, a source still gets one while
 * it has fewer than its share, which is what there is divided by all that have some. Another repository that a source
 * deploys has at most as many as it leaves to the others of that source: how long it keeps them is up to its author,
 * who is not that source's. A few such repositories have all of them nevertheless, so there are others for
 * repositories that have none and waited for a minute: one for each.
 */
export class FairPlaces {
  readonly #clock: Pick<Clock, "sleep">;
  readonly #places: Places;
  readonly #late: Places;
  /** Those who wait, by their first key and by who tries to enter, in order of arrival. */
  readonly #waiting = new Map<string, Map<() => boolean, Waiting>>();

  /** `sizeOf` tells how many places a key has. */
  constructor(clock: Pick<Clock, "sleep">, sizeOf: (key: string) => Size) {
    this.#clock = clock;
    this.#places = new Places((key, taken) => leftOf(sizeOf(key), taken));
    this.#late = new Places((key, taken) => leftForLate(sizeOf(key), taken));
  }

  /** Takes a place of each key where all have one; returns what gives them back, or `undefined`. */
  take(whose: Whose, keys: Keys): (() => void) | undefined {
    return this.#takeOf(this.#places, whose, keys);
  }

  /** Waits until it has a place of each key; returns what gives them back. Rejects with the signal's reason. */
  async place(whose: Whose, keys: Keys, signal: AbortSignal): Promise<() => void> {
    const settled = new AbortController();
    const place = abortableWait<() => void>((entered) => {
      const own: Waiting = { ...whose, keys, isLate: false };
      const waiting = this.#waiting.getOrInsertComputed(keys[0], () => new Map());
      const leave = () => {
        waiting.delete(enter);
        if (waiting.size === 0) this.#waiting.delete(keys[0]);
      };
      const enter = () => {
        const free = this.take(whose, keys) ?? (own.isLate ? this.#takeLate(own) : undefined);
        if (free === undefined) return false;
        leave();
        entered(free);
        return true;
      };
      waiting.set(enter, own);
      this.#clock.sleep(LATE_MS, settled.signal).then(() => {
        own.isLate = true;
        enter();
      }, () => {});
      return leave;
    }, signal);
    using _ = atEnd(() => settled.abort("settled"));
    return await place;
  }

  #takeLate(waiting: Waiting): (() => void) | undefined {
    const { keys } = waiting;
    const hasOne = [this.#places, this.#late].some((each) =>
      each.ofRepository(keys[0], waiting) > 0
    );
    return hasOne ? undefined : this.#takeOf(this.#late, waiting, keys);
  }

  #takeOf(places: Places, whose: Whose, keys: Keys): (() => void) | undefined {
    if (!places.take(whose, keys)) return undefined;
    return () => {
      places.free(whose, keys);
      this.#admit(keys[0]);
    };
  }

  /** Lets those enter who wait at a key, those with the fewest places first. */
  #admit(key: string): void {
    const own = (each: Waiting) =>
      [this.#places.ofSource(key, each), this.#places.ofOther(key, each)] as const;
    const inOrder = [...this.#waiting.get(key) ?? []]
      .map(([enter, each]) => ({ enter, each, own: own(each) }))
      .sort(({ own: one }, { own: other }) => one[0] - other[0] || one[1] - other[1]);
    // What keeps one of them keeps all that are alike.
    const kept = new Set<string>();
    for (const { enter, each } of inOrder) {
      const alike = JSON.stringify([each.source, each.repository, each.isLate, ...each.keys]);
      if (!kept.has(alike) && !enter()) kept.add(alike);
    }
  }
}

/** Places of a key that are taken: of the source that wants one, of all, and by how many sources. */
interface Taken {
  readonly own: number;
  readonly all: number;
  readonly sources: number;
}

/** Number of places of which a source may have one more, as long as a repository of it has fewer than these. */
function leftOf({ places, mostForFirst }: Size, { own, all, sources }: Taken): number {
  const share = Math.floor(places / (sources + (own === 0 ? 1 : 0)));
  return Math.max(share - own, (own === 0 ? mostForFirst : places) - all);
}

/**
 * The same for repositories that waited long: of each source half as many as there are places, and of all together
 * twice as many, whatever the sources have otherwise.
 */
export function leftForLate({ places }: Pick<Size, "places">, { own, all }: Taken): number {
  return Math.min(Math.ceil(places / 2) - own, 2 * places - all);
}

/** Places, and who has them. */
export class Places {
  readonly #left: (key: string, taken: Taken) => number;
  /** Numbers of places by key and source, and by key with source and repository. */
  readonly #taken = new Map<string, Map<string, number>>();

  /** `left` tells how many more places of a key there are for who wants one. */
  constructor(left: (key: string, taken: Taken) => number) {
    this.#left = left;
  }

  /** Takes a place of each key where all have one; tells whether they do. */
  take(whose: Whose, keys: Keys): boolean {
    if (!keys.every((key) => this.#hasPlace(whose, key))) return false;
    this.#note(whose, keys, 1);
    return true;
  }

  /** Gives the places back that were taken. */
  free(whose: Whose, keys: Keys): void {
    this.#note(whose, keys, -1);
  }

  /** Number of places of a source. */
  ofSource(key: string, { source }: Whose): number {
    return this.#of(key, source);
  }

  /** Number of places of a repository within its source. */
  ofRepository(key: string, { source, repository }: Whose): number {
    return this.#of(partOf(key, source), repository);
  }

  /** Number of places of another's repository within its source; none for a source's own. */
  ofOther(key: string, whose: Whose): number {
    return whose.repository === whose.source ? 0 : this.ofRepository(key, whose);
  }

  #hasPlace(whose: Whose, key: string): boolean {
    const sources = this.#taken.get(key) ?? new Map<string, number>();
    const all = sources.values().reduce((sum, each) => sum + each, 0);
    const taken = { own: this.ofSource(key, whose), all, sources: sources.size };
    return this.ofOther(key, whose) < this.#left(key, taken);
  }

  #of(key: string, name: string): number {
    return this.#taken.get(key)?.get(name) ?? 0;
  }

  #note({ source, repository }: Whose, keys: Keys, by: 1 | -1): void {
    const noteOne = (key: string, name: string) => {
      const taken = this.#taken.getOrInsertComputed(key, () => new Map());
      count(taken, name, by);
      if (taken.size === 0) this.#taken.delete(key);
    };
    for (const key of keys) {
      noteOne(key, source);
      noteOne(partOf(key, source), repository);
    }
  }
}

function partOf(key: string, source: string): string {
  return JSON.stringify([key, source]);
}
