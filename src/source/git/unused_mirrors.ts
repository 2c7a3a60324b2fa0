import { basename, dirname, join } from "node:path/posix";
import type { Files, KeyedLock } from "../../system/mod.ts";

/** A bare mirror on disk. */
export interface StoredMirror {
  /** Name of the repository that it is of, or whose submodule it is of. */
  readonly repository: string;
  /** Its directory. */
  readonly path: string;
}

/** Question which mirrors may go. */
export interface MirrorUse {
  /** Names of repositories that a release is deployed from, or may be again, and of those asking for it. */
  readonly needed: ReadonlySet<string>;
  /** Those asked for at this time or later stay, too. */
  readonly usedBefore: Date;
}

/**
 * Mirrors that stay though no release needs them, those that were asked for last: repositories with
 * nothing but a configuration, and submodules. A configuration may name other repositories with every
 * commit, so that their number has to end.
 */
const MOST_UNNEEDED = 50;

/** Says that a mirror is in use, where there is one. */
export async function noteUse(files: Files, mirror: string): Promise<void> {
  if (await files.stat(mirror) !== undefined) await files.touch(mirror).catch(() => {});
}

/**
 * Removes mirrors of repositories and submodules that nobody needs; each would be fetched again.
 * Returns their number.
 */
export async function removeUnused(
  { files, lock }: { readonly files: Files; readonly lock: KeyedLock },
  stored: readonly StoredMirror[],
  { needed, usedBefore }: MirrorUse,
  signal: AbortSignal,
): Promise<number> {
  const isNeeded = ({ repository, path }: StoredMirror) =>
    basename(path) === "mirror" && needed.has(repository);
  const found = await Promise.all(
    stored.filter((each) => !isNeeded(each)).map(async (each) => {
      const info = await files.stat(each.path);
      return info === undefined ? [] : [{ ...each, usedAt: info.modifiedAt }];
    }),
  );
  const byUse = found.flat().sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime());
  let removed = 0;
  for (const { path } of byUse.slice(MOST_UNNEEDED).filter(({ usedAt }) => usedAt < usedBefore)) {
    const isGone = await lock.run(path, () => removeOne(files, path, usedBefore), signal);
    if (isGone) removed++;
  }
  return removed;
}

async function removeOne(files: Files, path: string, usedBefore: Date): Promise<boolean> {
  const info = await files.stat(path);
  if (info === undefined || info.modifiedAt >= usedBefore) return false;
  await files.remove(path);
  const parent = dirname(path);
  const source = basename(path) === "mirror" ? parent : dirname(parent);
  for (const each of [join(source, "submodules"), join(source, "trees"), source]) {
    if ((await files.list(each)).length === 0) await files.remove(each);
  }
  return true;
}
