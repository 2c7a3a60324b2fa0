import { dirname } from "node:path/posix";
import { errors } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

const MIB = 1024 ** 2;

/** Work that takes room on a disk. */
interface DiskUse {
  /** Bytes that are about to be written; 0 where nobody knows. */
  readonly bytes: number;
  /** True for the first fetch of a repository, which must leave a larger reserve free. */
  readonly isNew: boolean;
}

/**
 * Keeps a reserve free on the disk of `path` for the ledger and for deployed stacks: an author can
 * make every commit fetch another repository. Disks whose free space is unknown pass.
 *
 * Throws `data_dir_unusable`.
 */
export async function requireRoom(
  files: Files,
  path: string,
  { bytes, isNew }: DiskUse,
): Promise<void> {
  const room = await roomAt(files, path);
  if (room === undefined) return;
  // On a card of 8 GB a new repository may be fetched while 160 MB are free.
  const [share, most] = isNew ? [50, 4096 * MIB] : [100, 256 * MIB];
  const reserve = Math.min(room.total / share, most);
  if (room.free - bytes >= reserve) return;
  const inMib = (count: number) => `${Math.round(count / MIB)} MiB`;
  const what = isNew ? " for a repository that was not fetched before" : "";
  const written = bytes === 0 ? "" : `, and ${inMib(bytes)} would be written`;
  const [free, kept] = [inMib(room.free), inMib(reserve)];
  throw errors.data_dir_unusable(
    `the disk of ${path} has no space left${what}: ${free} are free${written}, and ${kept} stay free ` +
      "for what is there already; make room, or give DATA_DIR a larger disk",
  );
}

/** Free and total space at the nearest existing directory. */
async function roomAt(files: Files, path: string) {
  for (let at = path;; at = dirname(at)) {
    const room = await files.room(at);
    if (room !== undefined || at === "/" || at === ".") return room;
  }
}
