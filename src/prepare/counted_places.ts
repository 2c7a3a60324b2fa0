import { MOST_CHARACTERS, MOST_PLACES, tooManyFiles } from "./compose_files.ts";

/**
 * Places below a tree that are looked at or remembered for one deployment, in bounded number and length:
 * each is counted as it is made, since includes below each other multiply them.
 */
export class CountedPlaces {
  readonly #tree: string;
  #places = 0;
  #characters = 0;

  constructor(tree: string) {
    this.#tree = tree;
  }

  /**
   * The distinct ones of all places; throws `config_invalid` at the first one beyond the limits. Each
   * counts for so many: none where they were counted before they were made.
   */
  distinct(places: Iterable<string>, each = 1): string[] {
    const found = new Set<string>();
    for (const place of places) {
      if (found.has(place)) continue;
      found.add(place);
      // Without the tree's own path: limits are the same on all machines.
      this.count(each, Math.max(0, place.length - this.#tree.length));
    }
    return [...found];
  }

  /** Counts places before any is made; throws `config_invalid` when they are too many. */
  count(places: number, characters = 0): void {
    this.#places += places;
    this.#characters += characters;
    if (this.#places > MOST_PLACES || this.#characters > MOST_CHARACTERS) throw tooManyFiles();
  }
}
