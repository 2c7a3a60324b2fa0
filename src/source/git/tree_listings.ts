import { isStackwrightError, partsOfPath } from "../../model/mod.ts";
import { isOfMemory, keepLatest } from "../../system/mod.ts";
import { requireSuccess, TOO_LONG } from "./git_result.ts";
import type { Mirror } from "./mirror.ts";
import type { OwnTrees } from "./tree_cache.ts";
import { type ListedEntry, parseTreeListing, tooManyEntries } from "./tree_object.ts";

/** Most entries of a cached listing: larger ones would fill this process's memory. */
const MOST_REMEMBERED = 5000;
/** Most bytes of a cached listing, for the same reason. */
const MOST_REMEMBERED_BYTES = 1024 * 1024;
/** Most bytes of a listing: enough for all entries that a tree may have, with paths of usual length. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Seconds on processors for a listing: those with the most entries take one. Directories of which a few
 * small ones make a tree of billions have git walk for ever, and print nothing where no file is in them.
 */
const MOST_SECONDS = 20;
/** Trees that were refused, of which the ids are kept: to list one again would take as long. */
const MOST_REFUSED = 100;

/** Lists of what trees hold, by git. A tree never changes, so each is listed once. */
export class TreeListings {
  readonly #mirror: Mirror;
  readonly #known: OwnTrees<ListedEntry>;
  readonly #refused = new Map<string, string>();

  /** Lists of a mirror, cached in its part of a cache that repositories share. */
  constructor(mirror: Mirror, known: OwnTrees<ListedEntry>) {
    this.#mirror = mirror;
    this.#known = known;
  }

  /**
   * Files, links and submodules below a tree or commit, by path from it. Throws the error of a damaged
   * mirror, and `source_invalid` for names that no checkout may create, and for too many.
   */
  async list(id: string, signal: AbortSignal): Promise<ReadonlyMap<string, ListedEntry>> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const refused = this.#refused.get(id);
    if (refused !== undefined) throw tooManyEntries(refused);
    const args = ["ls-tree", "-r", "-l", "-z", "--full-tree", id];
    const refuse = (more: string) =>
      tooManyEntries(keepLatest(this.#refused, MOST_REFUSED, id, more));
    const bounds = { mostBytes: MOST_BYTES, mostProcessorSeconds: MOST_SECONDS };
    const result = await this.#mirror.run({ args, ...bounds }, signal).catch((error) => {
      throw isStackwrightError(error, "payload_too_large") && !isOfMemory(error)
        ? refuse("")
        : error;
    });
    if (result.code === TOO_LONG) {
      throw refuse(`, or takes more than ${MOST_SECONDS} seconds on a processor to list`);
    }
    const { stdout } = requireSuccess(result, `listing ${id}`);
    const listing = await parseTreeListing(stdout);
    const isSmall = listing.size <= MOST_REMEMBERED && stdout.length <= MOST_REMEMBERED_BYTES;
    if (isSmall) this.#known.keep(id, listing);
    return listing;
  }

  /**
   * Like {@link list} for a directory of a commit, by path from the directory; `id` is the directory's
   * tree. Uses the cached listing of the commit where there is one.
   */
  async below(
    { commit, path, id }: { readonly commit: string; readonly path: string; readonly id: string },
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ListedEntry>> {
    const known = this.#known.get(commit);
    if (known === undefined) return await this.list(id, signal);
    const prefix = partsOfPath(path).map((each) => `${each}/`).join("");
    return new Map(
      [...known].filter(([name]) => name.startsWith(prefix))
        .map(([name, entry]) => [name.slice(prefix.length), entry]),
    );
  }

  /** Forgets everything, because the mirror was replaced. */
  forget(): void {
    this.#known.forget();
    this.#refused.clear();
  }
}
