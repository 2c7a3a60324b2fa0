import { basename, dirname, join } from "node:path/posix";
import type { Files, KeyedLock } from "../../system/mod.ts";

/** A bare mirror on disk. */
export interface StoredMirror {
  /** Name of the mirrored repository, or of the repository whose submodule is mirrored. */
  readonly repository: string;
  /** Its directory. */
  readonly path: string;
}

/** Tells which mirrors are in use and must not be removed. */
export interface MirrorUse {
  /** Directories of mirrors of releases that are deployed or may be again, and of their requests. */
  readonly needed: ReadonlySet<string>;
  /** Mirrors used at this time or later stay, too. */
  readonly usedBefore: Date;
}

/**
 * Recently used mirrors that stay though no release needs them: submodules, and repositories that hold
 * only a configuration. Bounded, because a configuration may name other repositories in every commit.
 */
const MOST_UNNEEDED = 50;

/** Marks an existing mirror as used now, by its modification time. */
export async function noteUse(files: Files, mirror: string): Promise<void> {
  if (await files.stat(mirror) !== undefined) await files.touch(mirror).catch(() => {});
}

/**
 * Removes mirrors of repositories and submodules that nobody needs; each would be fetched again.
 * Returns their number.
 */
export async function removeUnused(
  { files, lock, dataDir }: {
    readonly files: Files;
    readonly lock: KeyedLock;
    readonly dataDir: string;
  },
  stored: readonly StoredMirror[],
  { needed, usedBefore }: MirrorUse,
  signal: AbortSignal,
): Promise<number> {
  const found = await Promise.all(
    stored.filter(({ path }) => !needed.has(path)).map(async (each) => {
      const info = await files.stat(each.path);
      return info === undefined ? [] : [{ ...each, usedAt: info.modifiedAt }];
    }),
  );
  const byUse = found.flat().sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime());
  let removed = 0;
  for (const { path } of byUse.slice(MOST_UNNEEDED).filter(({ usedAt }) => usedAt < usedBefore)) {
    const isGone = await lock.run(
      path,
      () => removeOne({ files, dataDir }, path, usedBefore),
      signal,
    );
    if (isGone) removed++;
  }
  return removed;
}

/** Removes a mirror that was not used, and what is empty then of the directories of its name. */
async function removeOne(
  { files, dataDir }: { readonly files: Files; readonly dataDir: string },
  path: string,
  usedBefore: Date,
): Promise<boolean> {
  const info = await files.stat(path);
  if (info === undefined || info.modifiedAt >= usedBefore) return false;
  await files.remove(path);
  const sources = join(dataDir, "sources");
  const parent = dirname(path);
  const source = basename(path) === "mirror" ? parent : dirname(parent);
  for (const each of ["mirror", "submodules", "trees"]) await files.removeEmpty(join(source, each));
  for (let at = source; at.startsWith(`${sources}/`); at = dirname(at)) await files.removeEmpty(at);
  return true;
}
