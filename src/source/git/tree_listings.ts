import { isStackwrightError } from "../../model/mod.ts";
import { requireSuccess } from "./git_result.ts";
import type { Mirror } from "./mirror.ts";
import { type ListedEntry, parseTreeListing, tooManyEntries } from "./tree_object.ts";

/**
 * Listings that are remembered: of the newest commit and the one before it, and of two submodules.
 */
const MOST_LISTINGS = 4;
/** Larger ones are asked for again: they would be most of this process's memory. */
const MOST_REMEMBERED = 5000;
/** Bytes of a listing that is remembered, likewise. */
const MOST_REMEMBERED_BYTES = 1024 * 1024;
/** Bytes of a listing: those of all paths that a tree may have, if they are not unusually long. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Lists of what trees hold, by git. A tree never changes, so each is listed once. */
export class TreeListings {
  readonly #mirror: Mirror;
  readonly #known = new Map<string, ReadonlyMap<string, ListedEntry>>();

  constructor(mirror: Mirror) {
    this.#mirror = mirror;
  }

  /**
   * Files, links and submodules below a tree or commit, by path from it. Throws the error of a damaged
   * mirror, and `source_invalid` for names that no checkout may create, and for too many.
   */
  async list(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, ListedEntry>> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const args = ["ls-tree", "-r", "-l", "-z", "--full-tree", id];
    const result = await this.#mirror.run({ args, mostBytes: MOST_BYTES }, signal)
      .catch((error) => {
        throw isStackwrightError(error, "payload_too_large") ? tooManyEntries() : error;
      });
    const { stdout } = requireSuccess(result, `listing ${id}`);
    const listing = await parseTreeListing(stdout);
    const isSmall = listing.size <= MOST_REMEMBERED && stdout.length <= MOST_REMEMBERED_BYTES;
    if (isSmall) this.#remember(id, listing);
    return listing;
  }

  /**
   * The same of a directory of a commit, by path from the directory; `id` is that of its tree. Taken from
   * what is known of the commit, where it was listed before.
   */
  async below(
    { commit, path, id }: { readonly commit: string; readonly path: string; readonly id: string },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ListedEntry>> {
    const known = this.#known.get(commit);
    if (known === undefined) return await this.list(id, signal);
    const prefix = path.split("/").filter((each) => each !== "" && each !== ".")
      .map((each) => `${each}/`).join("");
    return new Map(
      [...known].filter(([name]) => name.startsWith(prefix))
        .map(([name, entry]) => [name.slice(prefix.length), entry]),
    );
  }

  /** Forgets everything, because the mirror was replaced. */
  forget(): void {
    this.#known.clear();
  }

  #remember(id: string, listing: ReadonlyMap<string, ListedEntry>): void {
    this.#known.set(id, listing);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MOST_LISTINGS && oldest !== undefined) this.#known.delete(oldest);
  }
}
