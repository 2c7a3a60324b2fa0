import { dirname } from "node:path/posix";
import { errors, type StackwrightError } from "../model/mod.ts";
import type { DiskRoom, Files } from "./files.ts";

const MIB = 1024 ** 2;
/** Bytes of a disk for each file that it can have, as ext4 counts them. */
const PER_FILE = 16 * 1024;

/** Work that takes room on a disk. */
export interface DiskUse {
  /** Bytes that are about to be written; 0 where nobody knows. */
  readonly bytes: number;
  /** Files and directories that are about to be made; none by default. */
  readonly entries?: number;
  /** True for the first fetch of a repository, which must leave a larger reserve free. */
  readonly isNew: boolean;
}

/** What is missing of the room for a piece of work. */
interface Shortage {
  /** Bytes beyond those that are free; 0 where files are missing. */
  readonly bytes: number;
  readonly error: StackwrightError;
}

/**
 * Keeps a reserve free on the disk of `path` for the ledger and for deployed stacks: an author can
 * make every commit fetch another repository. Disks whose free space is unknown pass.
 *
 * Throws `data_dir_unusable`.
 */
export async function requireRoom(
  files: Pick<Files, "room">,
  path: string,
  use: DiskUse,
): Promise<void> {
  const short = shortage(await roomAt(files, path), path, use);
  if (short !== undefined) throw short.error;
}

/** What is missing of the room for work below `path`, for which {@link requireRoom} refuses it. Pure. */
export function shortage(
  room: DiskRoom | undefined,
  path: string,
  { bytes, entries = 0, isNew }: DiskUse,
): Shortage | undefined {
  if (room === undefined) return undefined;
  const { free, total, entries: names } = room;
  // On a card of 8 GB a new repository may be fetched while 160 MB are free.
  const [share, most] = isNew ? [50, 4096 * MIB] : [100, 256 * MIB];
  const reserve = Math.min(total / share, most);
  const inMib = (count: number) => `${Math.round(count / MIB)} MiB`;
  if (free - bytes < reserve) {
    const error = full(path, { isNew, use: bytes, free, reserve }, inMib);
    return { bytes: reserve + bytes - free, error };
  }
  const kept = Math.min(names.total / share, most / PER_FILE);
  const inFiles = (count: number) => `${Math.round(count)} files`;
  // A file system without a fixed number of files tells of none (btrfs), or of 2^64-1 free ones (CephFS,
  // bcachefs), which is -1 in Bun.
  if (names.free - entries >= kept || names.total === 0 || names.free < 0) return undefined;
  const error = full(path, { isNew, use: entries, free: names.free, reserve: kept }, inFiles);
  return { bytes: 0, error };
}

function full(
  path: string,
  { isNew, use, free, reserve }: Record<"use" | "free" | "reserve", number> & {
    readonly isNew: boolean;
  },
  told: (count: number) => string,
) {
  const what = isNew ? " for a repository that was not fetched before" : "";
  const written = use === 0 ? "" : `, and ${told(use)} would be written`;
  return errors.data_dir_unusable(
    `the disk of ${path} has no space left${what}: ${told(free)} are free${written}, and ` +
      `${told(reserve)} stay free for what is there already; make room, or give DATA_DIR a ` +
      "larger disk",
  );
}

/** Free and total space at the nearest existing directory. */
export async function roomAt(
  files: Pick<Files, "room">,
  path: string,
): Promise<DiskRoom | undefined> {
  for (let at = path;; at = dirname(at)) {
    const room = await files.room(at);
    if (room !== undefined || at === "/" || at === ".") return room;
  }
}
