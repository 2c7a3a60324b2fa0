import { readFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";

/** What a path is, links not followed. */
export interface FileInfo {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly modifiedAt: Date;
}

/**
 * The file system. Paths are absolute. A missing file is a value where the name says so; every
 * other failure is the runtime's error with its `code` (`ENOSPC`, `EACCES`, `EROFS`).
 */
export interface Files {
  /** The bytes of a file, or `undefined` when there is none. */
  readIfExists(path: string): Promise<Uint8Array | undefined>;
  /** Writes a file beside its place and renames it there, so that readers see all or nothing. */
  write(path: string, data: string | Uint8Array, options?: { mode?: number }): Promise<void>;
  /** Overwrites the bytes of an existing file or creates it: the inode, which mounts hold, stays. */
  writeInPlace(path: string, data: Uint8Array, options?: { mode?: number }): Promise<void>;
  /** Information on a path, links not followed; `undefined` when there is nothing. */
  stat(path: string): Promise<FileInfo | undefined>;
  /** Names in a directory, sorted; empty when there is no directory. */
  list(path: string): Promise<string[]>;
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

/** The real file system. */
export const systemFiles: Files = {
  readIfExists: (path) => missingAsUndefined(fs.readFile(path)),
  async write(path, data, options) {
    const beside = join(dirname(path), `.tmp-${randomUUID()}`);
    try {
      const handle = await fs.open(beside, "wx", options?.mode ?? 0o644);
      try {
        await handle.writeFile(data);
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
    await fs.writeFile(path, data, { flag: "w" });
    if (options?.mode !== undefined) await fs.chmod(path, options.mode);
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

/** Removes what a failed write began. The write's own error is what counts, so none comes from here. */
async function discard(path: string): Promise<void> {
  await fs.rm(path, { force: true }).catch(() => {});
}

async function missingAsUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
