import { keepLatest } from "../../system/mod.ts";

/** Most commits of one mirror whose sources are remembered to have no more. */
const MOST_COMMITS = 1000;

/** A fetch that led less deep than was asked for. */
interface Fetched {
  readonly asked: number;
  readonly reached: number;
}

/**
 * The depths of histories at their source, which may be shallow itself: what a fetch did not bring, no
 * other one brings before the source changes, and each would take as long as the first.
 */
export class SourceDepths {
  /** In the order of the fetches. */
  readonly #fetched = new Map<string, Fetched>();

  /** Remembers that a fetch which asked for a depth reached a smaller one. */
  note(id: string, asked: number, reached: number): void {
    keepLatest(this.#fetched, MOST_COMMITS, id, { asked, reached });
  }

  /** Whether a fetch for as much as `wanted` reached no more than the mirror has, which is `depth`. */
  hasNoMore(id: string, wanted: number, depth: number): boolean {
    const known = this.#fetched.get(id);
    return known !== undefined && known.asked >= wanted && depth >= known.reached;
  }
}
