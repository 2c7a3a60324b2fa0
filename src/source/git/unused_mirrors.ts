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

/**
 * Whether the last part of a path is the name of a mirror: the digest of its URL. All else beside mirrors
 * was left by a removal that was cut off, or by an earlier version: that had one mirror for all URLs
 * of a source, whose commits nobody can tell apart by the URLs that named them, in `mirror` itself.
 */
export function isMirror(path: string): boolean {
  return /^[0-9a-f]{64}$/.test(basename(path));
}

/** Whether the last part of a path is a name of what is being made or removed. */
export function isTemporary(path: string): boolean {
  return basename(path).startsWith(".tmp-");
}

/** Marks an existing mirror as used now, by its modification time. */
export async function noteUse(files: Files, mirror: string): Promise<void> {
  if (await files.stat(mirror) !== undefined) await files.touch(mirror).catch(() => {});
}

/**
 * Removes mirrors of repositories and submodules that nobody needs; each would be fetched again. Removes
 * what is beside mirrors and is none, too. Returns the number of mirrors.
 */
export async function removeUnused(
  { files, lock, dataDir }: {
    readonly files: Files;
    readonly lock: KeyedLock;
    readonly dataDir: string;
  },
  all: readonly StoredMirror[],
  { needed, usedBefore }: MirrorUse,
  signal: AbortSignal,
): Promise<number> {
  const found = await Promise.all(
    all.filter(({ path }) => !needed.has(path)).map(async ({ path }) => {
      const info = await files.stat(path);
      return info === undefined ? [] : [{ path, usedAt: info.modifiedAt }];
    }),
  );
  const [mirrors = [], others = []] = [true, false].map((wanted) =>
    found.flat().filter(({ path }) => isMirror(path) === wanted)
  );
  for (const { path, usedAt } of others) {
    if (isTemporary(path) && usedAt >= usedBefore) continue;
    await files.remove(path);
    await removeEmptied({ files, dataDir }, path);
  }
  const byUse = mirrors.sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime());
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

/**
 * Removes a mirror that was not used, and what is empty then of the directories of its name. Renames it
 * before: of half a mirror nobody can tell what is missing.
 */
async function removeOne(
  { files, dataDir }: { readonly files: Files; readonly dataDir: string },
  path: string,
  usedBefore: Date,
): Promise<boolean> {
  const info = await files.stat(path);
  if (info === undefined || info.modifiedAt >= usedBefore) return false;
  const aside = join(dirname(path), `.tmp-removed-${basename(path)}`);
  await files.remove(aside);
  await files.rename(path, aside);
  await files.remove(aside);
  await removeEmptied({ files, dataDir }, path);
  return true;
}

async function removeEmptied(
  { files, dataDir }: { readonly files: Files; readonly dataDir: string },
  path: string,
): Promise<void> {
  const sources = join(dataDir, "sources");
  const source = dirname(dirname(path));
  for (const each of ["mirror", "submodules", "trees"]) await files.removeEmpty(join(source, each));
  for (let at = source; at.startsWith(`${sources}/`); at = dirname(at)) await files.removeEmpty(at);
}
