import { constants, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";

/** What is written to a file: as a whole, or piece by piece. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/** Facts about a path, links not followed. */
export interface FileInfo {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly modifiedAt: Date;
}

/** A directory that is held open: it stays the same one, whatever others rename or put in its place. */
export interface HeldDirectory {
  /** A path that leads to it for as long as it is held; what is in it is reached below. */
  readonly path: string;
  /** Lets go of it. May be called twice. */
  close(): Promise<void>;
}

/**
 * The file system. Paths are absolute. A missing file is a value where the name says so; every
 * other failure is the runtime's error with its `code` (`ENOSPC`, `EACCES`, `EROFS`).
 */
export interface Files {
  /** The bytes of a file, or `undefined` when there is none. */
  readIfExists(path: string): Promise<Uint8Array | undefined>;
  /** The same in pieces of at most a mebibyte, for what may be of any size. Fails where there is none. */
  readInPieces(path: string): AsyncIterable<Uint8Array>;
  /**
   * A plain file; `undefined` for what is none, a link as well, which is not followed, and for one of
   * more than `mostBytes`.
   */
  readPlain(
    path: string,
    mostBytes: number,
  ): Promise<{ readonly data: Uint8Array; readonly mode: number } | undefined>;
  /** Writes a file beside its place and renames it there, so that readers see all or nothing. */
  write(path: string, data: FileContent, options?: { mode?: number }): Promise<void>;
  /**
   * Overwrites the bytes of an existing file or creates it: the inode, which mounts hold, stays. Fails
   * with `ELOOP` for a link, which is not followed, and with `ENXIO` for what is no plain file.
   */
  writeInPlace(path: string, data: FileContent, options?: { mode?: number }): Promise<void>;
  /** Information on a path, links not followed; `undefined` when there is nothing. */
  stat(path: string): Promise<FileInfo | undefined>;
  /** Names in a directory, sorted; empty when there is no directory. */
  list(path: string): Promise<string[]>;
  /** Holds a directory open; `undefined` when there is none, which a link to one is not. */
  holdDirectory(path: string): Promise<HeldDirectory | undefined>;
  /** Makes a directory and its parents; one that exists is fine. */
  makeDirectory(path: string, options?: { mode?: number }): Promise<void>;
  /** Removes a file, link or tree; nothing there is fine. */
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Makes a hard link. */
  link(existing: string, path: string): Promise<void>;
  /** Makes `path` a symbolic link to `target`, replacing an earlier link in one step. */
  replaceLink(target: string, path: string): Promise<void>;
  /** Target of a symbolic link, or `undefined` when there is none. */
  readLink(path: string): Promise<string | undefined>;
  /** The path with every link resolved, or `undefined` when it leads nowhere. */
  realPath(path: string): Promise<string | undefined>;
  chmod(path: string, mode: number): Promise<void>;
  /** Sets the time a path was modified to now. */
  touch(path: string): Promise<void>;
  /** Makes a new, empty directory whose name starts with `prefix`. */
  makeTemporaryDirectory(prefix: string): Promise<string>;
}

/** The text of a file, at once: only for settings, which are read before anything else runs. */
export function readFileNow(path: string): string {
  return readFileSync(path, "utf8");
}

/**
 * True when there is anything at a path, at once: for what may not be interrupted by other work.
 */
export function existsNow(path: string): boolean {
  return existsSync(path);
}

/** Puts a file in the place of another, which need not be there, at once; see {@link existsNow}. */
export function replaceNow(from: string, to: string): void {
  renameSync(from, to);
}

/** Removes a file, at once; nothing there is fine. See {@link existsNow}. */
export function removeNow(path: string): void {
  rmSync(path, { force: true });
}

/** Bytes of one piece of a file that is not read as a whole. */
const PIECE_BYTES = 1024 * 1024;

/** The real file system. */
export const systemFiles: Files = {
  readIfExists: (path) => missingAsUndefined(fs.readFile(path)),
  async *readInPieces(path) {
    const handle = await fs.open(path, constants.O_RDONLY);
    try {
      for (;;) {
        const { bytesRead, buffer } = await handle.read(
          new Uint8Array(PIECE_BYTES),
          0,
          PIECE_BYTES,
        );
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  },
  async readPlain(path, mostBytes) {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    const handle = await unreachableAsUndefined(fs.open(path, flags));
    if (handle === undefined) return undefined;
    try {
      const info = await handle.stat();
      if (!info.isFile() || info.size > mostBytes) return undefined;
      return { data: await handle.readFile(), mode: info.mode & 0o7777 };
    } finally {
      await handle.close();
    }
  },
  async write(path, data, options) {
    const beside = join(dirname(path), `.tmp-${randomUUID()}`);
    try {
      const handle = await fs.open(beside, "wx", options?.mode ?? 0o644);
      try {
        await writeAll(handle, data);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await fs.rename(beside, path);
    } catch (error) {
      await discard(beside);
      throw error;
    }
  },
  async writeInPlace(path, data, options) {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Not cut off while it is opened: it may be something else than a file by now.
    const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    const handle = await fs.open(path, flags, options?.mode ?? 0o644);
    try {
      if (!(await handle.stat()).isFile()) throw notAFile(path);
      await handle.truncate(0);
      await writeAll(handle, data);
      if (options?.mode !== undefined) await handle.chmod(options.mode);
    } finally {
      await handle.close();
    }
  },
  async stat(path) {
    const info = await missingAsUndefined(fs.lstat(path));
    if (info === undefined) return undefined;
    const kind = info.isFile()
      ? "file"
      : info.isDirectory()
      ? "directory"
      : info.isSymbolicLink()
      ? "symlink"
      : "other";
    return { kind, size: info.size, mode: info.mode & 0o7777, modifiedAt: info.mtime };
  },
  list: async (path) => ((await missingAsUndefined(fs.readdir(path))) ?? []).sort(),
  async holdDirectory(path) {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    const handle = await missingAsUndefined(fs.open(path, flags));
    if (handle === undefined) return undefined;
    // There is no openat(): what the kernel shows of a descriptor leads to it all the same.
    return { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
  },
  async makeDirectory(path, options) {
    await fs.mkdir(path, { recursive: true, ...options });
  },
  remove: (path) => fs.rm(path, { recursive: true, force: true }),
  rename: (from, to) => fs.rename(from, to),
  link: (existing, path) => fs.link(existing, path),
  async replaceLink(target, path) {
    const beside = join(dirname(path), `.tmp-${randomUUID()}`);
    await fs.symlink(target, beside);
    try {
      await fs.rename(beside, path);
    } catch (error) {
      await discard(beside);
      throw error;
    }
  },
  readLink: (path) => missingAsUndefined(fs.readlink(path)),
  realPath: (path) => missingAsUndefined(fs.realpath(path)),
  chmod: (path, mode) => fs.chmod(path, mode),
  touch(path) {
    const now = new Date();
    return fs.utimes(path, now, now);
  },
  makeTemporaryDirectory: (prefix) => fs.mkdtemp(prefix),
};

async function writeAll(handle: fs.FileHandle, data: FileContent): Promise<void> {
  if (typeof data === "string" || data instanceof Uint8Array) return await handle.writeFile(data);
  for await (const piece of data) {
    for (let done = 0; done < piece.length;) {
      done += (await handle.write(piece, done)).bytesWritten;
    }
  }
}

/** Removes what a failed write began. The write's own error is what counts, so none comes from here. */
async function discard(path: string): Promise<void> {
  await fs.rm(path, { force: true }).catch(() => {});
}

function notAFile(path: string): Error {
  return Object.assign(new Error(`ENXIO: not a plain file, open '${path}'`), { code: "ENXIO" });
}

function missingAsUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  return codesAsUndefined(["ENOENT", "ENOTDIR"], reading);
}

/** The same for links and sockets, which cannot be opened. */
function unreachableAsUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  return codesAsUndefined(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"], reading);
}

async function codesAsUndefined<T>(
  codes: readonly string[],
  reading: Promise<T>,
): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (codes.includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
