import type { Mirror } from "./mirror.ts";
import type { ObjectReader } from "./object_reader.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { RevisionReader } from "./revision_reader.ts";
import type { TreeEntry } from "../source.ts";
import { isDamaged } from "./git_failure.ts";
import type { TreeCache } from "./tree_cache.ts";
import { TreeListings } from "./tree_listings.ts";
import type { ListedEntry } from "./tree_object.ts";

/** A mirror of one repository, with the readers and caches of its objects. */
export interface Repository {
  readonly mirror: Mirror;
  readonly objects: ObjectReader;
  readonly paths: RevisionReader;
  readonly listings: TreeListings;
}

/** The caches that repositories share. */
export interface RepositoryCaches {
  readonly directories: TreeCache<TreeEntry>;
  readonly listings: TreeCache<ListedEntry>;
}

/** Builds the readers of a mirror. */
export function createRepository(
  mirror: Mirror,
  objects: ObjectReader,
  caches: RepositoryCaches,
): Repository {
  const paths = new RevisionReader(objects, caches.directories.part());
  return { mirror, objects, paths, listings: new TreeListings(mirror, caches.listings.part()) };
}

/** A commit of a repository, and where the repository can be fetched again. */
export interface CommitPlace {
  readonly repository: Repository;
  readonly url: RepositoryUrl;
  readonly commit: string;
}

/**
 * Runs `task`, which reads a commit; when the mirror turns out to be damaged or gone, repairs it and
 * runs `task` again: first by fetching what is missing, then by making the mirror anew.
 */
export async function withRepair<T>(
  { repository, url, commit }: CommitPlace,
  signal: AbortSignal,
  task: () => Promise<T>,
): Promise<T> {
  for (let repairs = 0;; repairs++) {
    try {
      return await task();
    } catch (error) {
      if (!isDamaged(error) || repairs === 2) throw error;
      await repository.mirror.repair(url, commit, signal);
      repository.paths.forget();
      repository.listings.forget();
    }
  }
}
