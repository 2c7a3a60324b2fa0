import { dirname, join } from "node:path/posix";
import { randomUUID } from "node:crypto";
import type { Revision } from "../../model/mod.ts";
import type { Files, KeyedLock } from "../../system/mod.ts";
import { onDisk } from "../disk_error.ts";

interface StoredTree {
  readonly path: string;
  /** Time at which it was asked for last, by any process. */
  readonly usedAt: Date;
}

/** The trees on disk, for the removal of unused ones. */
export interface TreeStore {
  /** Every tree below the data directory, of all sources. */
  list(): Promise<StoredTree[]>;
  /** Directory of the tree of a revision, whether or not it exists. */
  pathOf(revision: Revision): string;
  /**
   * Removes a tree unless it was asked for at `usedBefore` or later. Returns whether it is gone.
   *
   * Throws `data_dir_unusable` when the disk refuses.
   */
  remove(path: string, usedBefore: Date, signal: AbortSignal): Promise<boolean>;
}

interface TreeStoreParts {
  readonly files: Files;
  /** Absolute path of the data directory. */
  readonly dataDir: string;
  readonly pathOf: (revision: Revision) => string;
  /** The lock under which trees are made; the key is the tree's directory. */
  readonly lock: KeyedLock;
}

/** Makes the store of the trees below a data directory. */
export function createTreeStore(parts: TreeStoreParts): TreeStore {
  const { files, dataDir, pathOf, lock } = parts;
  return {
    pathOf,
    async list() {
      const found: StoredTree[] = [];
      for (const trees of await treeDirectories(files, join(dataDir, "sources"))) {
        for (const name of await files.list(trees)) {
          const path = join(trees, name);
          const info = name.startsWith(".") ? undefined : await files.stat(path);
          if (info?.kind === "directory") found.push({ path, usedAt: info.modifiedAt });
        }
      }
      return found;
    },
    remove: (path, usedBefore, signal) =>
      lock.run(path, () => onDisk(path, () => remove(files, path, usedBefore)), signal),
  };
}

/**
 * The directories called `trees`; no part of a source's name is called so. Sources may lie in each other:
 * `host/group` and `host/group/shop`.
 */
async function treeDirectories(files: Files, directory: string): Promise<string[]> {
  const below: string[] = [];
  for (const name of await files.list(directory)) {
    if (name === "trees") below.push(join(directory, name));
    if (name === "trees" || name === "mirror" || name === "submodules") continue;
    below.push(...await treeDirectories(files, join(directory, name)));
  }
  return below;
}

/**
 * Renames the tree before removing it, so that no process finds half of it. Puts it back when another
 * process asked for it in the last moment.
 */
async function remove(files: Files, path: string, usedBefore: Date): Promise<boolean> {
  const before = await files.stat(path);
  if (before === undefined) return true;
  if (before.modifiedAt >= usedBefore) return false;
  const aside = join(dirname(path), `.tmp-removed-${randomUUID()}`);
  await files.rename(path, aside);
  const after = await files.stat(aside);
  if (after !== undefined && after.modifiedAt >= usedBefore) {
    await files.rename(aside, path);
    return false;
  }
  await files.remove(aside);
  return true;
}
