import { utf8 } from "../model/mod.ts";

/** Content of a file: as a whole, or piece by piece. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Facts about a path, links not followed. */
export interface FileInfo {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  /** The same for all paths to one file or directory, also by other mounts of its disk. */
  readonly id: string;
  /** Permission bits. */
  readonly mode: number;
  readonly modifiedAt: Date;
}

/** A directory that is held open: it stays the same one, whatever others rename or put in its place. */
export interface HeldDirectory {
  /** A path to the directory, valid for as long as it is held; entries are reached below it. */
  readonly path: string;
  /** Releases the directory. May be called twice. */
  close(): Promise<void>;
}

/** Bytes of a disk, and those that are free. */
export interface DiskRoom {
  readonly free: number;
  readonly total: number;
  /** The same of the files and directories that it can have; 0 where that has no limit. */
  readonly entries: { readonly free: number; readonly total: number };
}

/**
 * The file system. Paths are absolute. A missing file is a value where the name says so; every
 * other failure is the runtime's error with its `code` (`ENOSPC`, `EACCES`, `EROFS`).
 */
export interface Files {
  /** The bytes of a file, or `undefined` when there is none. Fails with `EFBIG` for more than `mostBytes`. */
  readIfExists(path: string, mostBytes: number): Promise<Uint8Array | undefined>;
  /**
   * The bytes of a plain file in pieces of at most a mebibyte, for files of any size. Fails for a missing
   * file, and with `ENXIO` for what is none, a link as well, which is not opened.
   */
  readInPieces(path: string): AsyncIterable<Uint8Array>;
  /** A plain file of at most `mostBytes`; `undefined` for anything else, which is not opened. */
  readPlain(
    path: string,
    mostBytes: number,
  ): Promise<{ readonly data: Uint8Array; readonly mode: number } | undefined>;
  /** Writes a file beside its place and renames it there, so that readers see all or nothing. */
  write(path: string, data: FileContent, options?: { mode?: number }): Promise<void>;
  /**
   * Overwrites the bytes of an existing file or creates it: the inode, which mounts hold, stays. Fails
   * with `ENXIO` for what is no plain file, a link as well; nothing else is opened.
   */
  writeInPlace(path: string, data: FileContent, options?: { mode?: number }): Promise<void>;
  /** Information on a path, links not followed; `undefined` when there is nothing. */
  stat(path: string): Promise<FileInfo | undefined>;
  /** Names in a directory, sorted; empty when there is no directory. */
  list(path: string): Promise<string[]>;
  /**
   * As {@link list}, for directories in which others write: `undefined` for more names than `most`, and
   * for a directory so large that to read them would take seconds.
   */
  listAtMost(path: string, most: number): Promise<string[] | undefined>;
  /** Holds a directory open; `undefined` when there is none. Links are not followed. */
  holdDirectory(path: string): Promise<HeldDirectory | undefined>;
  /** Makes a directory and its parents; one that exists is fine. */
  makeDirectory(path: string, options?: { mode?: number }): Promise<void>;
  /** Removes a file, link or tree; nothing there is fine. */
  remove(path: string): Promise<void>;
  /** Removes a file, link or empty directory; nothing there, and what is in a directory, is fine. */
  removeOne(path: string): Promise<void>;
  /** Removes a directory that is empty; anything else stays, and is fine. */
  removeEmpty(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Makes a hard link. */
  link(existing: string, path: string): Promise<void>;
  /** Makes `path` a symbolic link to `target`, replacing an earlier link in one step. */
  replaceLink(target: string, path: string): Promise<void>;
  /** Target of a symbolic link, or `undefined` when there is none. */
  readLink(path: string): Promise<string | undefined>;
  /** The path with every link resolved, or `undefined` when it leads nowhere, in a circle too. */
  realPath(path: string): Promise<string | undefined>;
  chmod(path: string, mode: number): Promise<void>;
  /** Room on the disk that a path lies on; `undefined` when nothing is there. */
  room(path: string): Promise<DiskRoom | undefined>;
  /** Sets the time a path was modified to now. */
  touch(path: string): Promise<void>;
  /** Makes a new, empty directory whose name starts with `prefix`. */
  makeTemporaryDirectory(prefix: string): Promise<string>;
}

/** Runs work with a new private directory, which is removed afterwards with its content. */
export async function withTemporaryDirectory<T>(
  files: Pick<Files, "makeTemporaryDirectory" | "remove">,
  prefix: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await files.makeTemporaryDirectory(prefix);
  try {
    return await work(directory);
  } finally {
    await files.remove(directory);
  }
}

/** The text of a file, or `undefined` when there is none; see {@link Files.readIfExists}. */
export async function readText(
  files: Pick<Files, "readIfExists">,
  path: string,
  mostBytes: number,
): Promise<string | undefined> {
  const bytes = await files.readIfExists(path, mostBytes);
  return bytes && utf8(bytes);
}

/** Most bytes of a file that the operator gives: settings, keys, certificates, logins. */
export const MOST_GIVEN: number = 4 * 1024 * 1024;
/** Most bytes of a table of the kernel: a line for each mount or socket of the machine. */
const MOST_OF_TABLE = 64 * 1024 * 1024;

/** The text of a table of the kernel, `/proc/self/mountinfo`; empty where there is none. */
export async function procText(files: Pick<Files, "readIfExists">, path: string): Promise<string> {
  return await readText(files, path, MOST_OF_TABLE) ?? "";
}

/** The error for a file that is larger than what is read. */
export function tooLarge(path: string, mostBytes: number): Error {
  const message = `${path} has more than ${mostBytes} bytes, the most that is read`;
  return Object.assign(new Error(message), { code: "EFBIG" });
}
