import { dirname } from "node:path/posix";
import { StackwrightError } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";

const GIB = 1024 ** 3;

/** Work that takes room on a disk. */
interface DiskUse {
  /** Bytes that it takes, as far as they are known. */
  readonly bytes: number;
  /** Whether it is of something that was not here before, and leaves more room to all that was. */
  readonly isNew: boolean;
}

/**
 * Makes sure that room is left on the disk of `path`, for the ledger and for what is deployed already:
 * who may push can have something new fetched with every commit. Disks that cannot be asked pass.
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
  const [share, most] = isNew ? [20, 4 * GIB] : [100, GIB / 4];
  const reserve = Math.min(room.total / share, most);
  if (room.free - bytes >= reserve) return;
  throw new StackwrightError(
    "data_dir_unusable",
    `the disk of ${path} has no space left: ${Math.round(room.free)} bytes are free, of which ${
      Math.round(reserve)
    } ` +
      `are kept for what is there${
        bytes === 0 ? "" : `, and ${bytes} would be written`
      }; make room`,
  );
}

/** Room at the nearest directory that is there. */
async function roomAt(files: Files, path: string) {
  for (let at = path;; at = dirname(at)) {
    const room = await files.room(at);
    if (room !== undefined || at === "/" || at === ".") return room;
  }
}
