import { createFairLimiter } from "../../system/mod.ts";
import { Mirror } from "./mirror.ts";
import type { MirrorParts } from "./mirror_parts.ts";
import { ObjectReader } from "./object_reader.ts";
import type { ReaderParts } from "./object_session.ts";
import { createRepository, type Repository } from "./repository.ts";
import type { TreeEntry } from "../source.ts";
import { TreeCache } from "./tree_cache.ts";
import type { ListedEntry } from "./tree_object.ts";

/** Parts for opening repositories; the limits are those of their object readers. */
type RepositoriesParts =
  & Pick<ReaderParts, "idleMs" | "answerMs">
  & Pick<MirrorParts, "git" | "files" | "clock" | "log" | "lock" | "disk">
  & { readonly largest: number };

/** Most repositories that stay open: each caches megabytes, and deployments name any number. */
export const MOST_OPEN = 100;

/** The repositories of this process; those that were used lately are opened once. */
export class Repositories {
  readonly #parts: RepositoriesParts;
  /** In order of use, the most recently used last. */
  readonly #open = new Map<string, Repository>();
  readonly #large = createFairLimiter(1);
  readonly #caches = {
    directories: new TreeCache<TreeEntry>(),
    listings: new TreeCache<ListedEntry>(),
  };

  constructor(parts: RepositoriesParts) {
    this.#parts = parts;
  }

  /** The repository whose mirror is in a directory. */
  open(directory: string, name: string): Repository {
    const known = this.#open.get(directory);
    this.#open.delete(directory);
    const repository = known ?? this.#make(directory, name);
    this.#open.set(directory, repository);
    const [oldest] = this.#open;
    if (this.#open.size > MOST_OPEN && oldest !== undefined) {
      this.#open.delete(oldest[0]);
      oldest[1].paths.forget();
      oldest[1].listings.forget();
      // A reader that is still in use starts its program again.
      void oldest[1].objects.close().catch(() => {});
    }
    return repository;
  }

  #make(directory: string, name: string): Repository {
    const { git, files, clock, log, lock, disk, idleMs, answerMs, largest } = this.#parts;
    const args = ["cat-file", "--batch-command"];
    const start = (isLarge: boolean) => git.start({ args, gitDir: directory, isLarge });
    const reader = new ObjectReader({
      ...{ start, clock, idleMs, answerMs, largest, name },
      large: this.#large,
    });
    const mirror = new Mirror({ git, files, clock, log, lock, disk, reader, directory, name });
    return createRepository(mirror, reader, this.#caches);
  }

  /** Ends the programs that read the repositories. May be called twice. */
  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((each) => each.objects.close()));
  }
}
