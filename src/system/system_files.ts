import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";
import { type FileContent, type Files, tooLarge } from "./files.ts";

/** Most bytes of one piece of a file, and bytes of one beyond the size that the file had. */
const PIECE_BYTES = 1024 * 1024;
const LEAST_PIECE = 4096;
/** Tries to make a directory while others remove empty ones around it. */
const MOST_TRIES = 20;

/** Bytes of a directory whose names would take seconds to read: Deno reads all of them at once. */
const LARGE_DIRECTORY = 1 << 20;

/** The real file system. */
export const systemFiles: Files = {
  readIfExists: (path, mostBytes) => missingAsUndefined(readAll(path, mostBytes)),
  async *readInPieces(path) {
    await using handle = await openPlain(path, constants.O_RDONLY);
    yield* piecesOf(handle, PIECE_BYTES);
  },
  async readPlain(path, mostBytes) {
    const opened = openPlain(path, constants.O_RDONLY);
    await using handle = await codesAsUndefined(["ENOENT", "ENOTDIR", "ENXIO"], opened);
    if (handle === undefined) return undefined;
    const { mode } = await handle.stat();
    const data = await bytesOf(handle, mostBytes);
    return data && { data, mode: mode & 0o7777 };
  },
  async write(path, data, options) {
    const beside = join(dirname(path), `.tmp-${randomUUID()}`);
    try {
      await writeNew(beside, data, options?.mode);
      await fs.rename(beside, path);
    } catch (error) {
      await discard(beside);
      throw error;
    }
  },
  async writeInPlace(path, data, options) {
    await using handle = await missingAsUndefined(openPlain(path, constants.O_WRONLY)) ??
      await fs.open(path, "wx", options?.mode ?? 0o644);
    await handle.truncate(0);
    await writeAll(handle, data);
    if (options?.mode !== undefined) await handle.chmod(options.mode);
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
    const id = `${info.dev}:${info.ino}`;
    return { kind, size: info.size, id, mode: info.mode & 0o7777, modifiedAt: info.mtime };
  },
  list: sortedNames,
  async listAtMost(path, most) {
    const { size = 0 } = (await missingAsUndefined(fs.stat(path))) ?? {};
    if (size > LARGE_DIRECTORY) return undefined;
    // Not by `opendir()`: on Deno one that is left before its end keeps a descriptor for ever.
    const names = await sortedNames(path);
    return names.length > most ? undefined : names;
  },
  async holdDirectory(path) {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    const handle = await missingAsUndefined(fs.open(path, flags));
    if (handle === undefined) return undefined;
    // There is no openat(): what the kernel shows of a descriptor leads to it all the same.
    return { path: `/proc/self/fd/${handle.fd}`, close: () => handle.close() };
  },
  async makeDirectory(path, options) {
    for (let tries = 1;; tries++) {
      try {
        return void await fs.mkdir(path, { recursive: true, ...options });
      } catch (error) {
        // One of its parents, made just now or before, was removed by `removeEmpty` meanwhile.
        const isGone = ["ENOENT", "EEXIST"].includes((error as { code?: string }).code ?? "");
        if (!isGone || tries === MOST_TRIES) throw error;
      }
    }
  },
  remove: (path) => fs.rm(path, { recursive: true, force: true }),
  async removeOne(path) {
    // Deno removes an empty directory here, and says ENOTEMPTY of another; Bun says EISDIR of both.
    const codes = ["ENOENT", "ENOTDIR", "EISDIR", "ENOTEMPTY", "EEXIST"];
    await codesAsUndefined(codes, fs.unlink(path));
    await systemFiles.removeEmpty(path);
  },
  async removeEmpty(path) {
    await codesAsUndefined(["ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST"], fs.rmdir(path));
  },
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
  realPath: (path) => codesAsUndefined(["ENOENT", "ENOTDIR", "ELOOP"], fs.realpath(path)),
  chmod: (path, mode) => fs.chmod(path, mode),
  async room(path) {
    const info = await missingAsUndefined(fs.statfs(path));
    if (info === undefined) return undefined;
    const entries = { free: info.ffree, total: info.files };
    return { free: info.bavail * info.bsize, total: info.blocks * info.bsize, entries };
  },
  touch(path) {
    const now = new Date();
    return fs.utimes(path, now, now);
  },
  makeTemporaryDirectory: (prefix) => fs.mkdtemp(prefix),
};

/** The bytes of a file. Fails with `EFBIG` for more than `mostBytes`. */
export async function readAll(path: string, mostBytes: number): Promise<Uint8Array> {
  await using handle = await fs.open(path, constants.O_RDONLY);
  const bytes = await bytesOf(handle, mostBytes);
  if (bytes === undefined) throw tooLarge(path, mostBytes);
  return bytes;
}

/** The bytes of an open file; `undefined` for more than `mostBytes`. */
async function bytesOf(handle: fs.FileHandle, mostBytes: number): Promise<Uint8Array | undefined> {
  const info = await handle.stat();
  const size = info.isFile() ? info.size : 0;
  if (size > mostBytes) return undefined;
  const pieces: Uint8Array[] = [];
  let length = 0;
  // Tables of the kernel have no size, and a container may make a file larger meanwhile.
  for await (const piece of piecesOf(handle, Math.min(size + LEAST_PIECE, PIECE_BYTES))) {
    length += piece.length;
    if (length > mostBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function* piecesOf(handle: fs.FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(new Uint8Array(size), 0, size);
    if (bytesRead === 0) return;
    // A part of the buffer would keep all of it in memory: a container may lengthen the file by bytes.
    yield bytesRead === size ? buffer : buffer.slice(0, bytesRead);
  }
}

/** Writes a file that is not there yet, down to the disk. */
async function writeNew(path: string, data: FileContent, mode = 0o644): Promise<void> {
  await using handle = await fs.open(path, "wx", mode);
  await writeAll(handle, data);
  await handle.sync();
}

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

/** Linux's flag to look a path up and not open what is there; Node has no name for it. */
const O_PATH = 0o10000000;

/**
 * Opens a plain file where a container may have put something else at any moment: to open a device is
 * to act on it, and a pipe lets its writer go on. Fails with `ENXIO` for what is none, a link as well.
 */
async function openPlain(path: string, flags: number): Promise<fs.FileHandle> {
  await using place = await fs.open(path, O_PATH | constants.O_NOFOLLOW);
  if ((await place.stat()).isFile()) return await fs.open(`/proc/self/fd/${place.fd}`, flags);
  throw Object.assign(new Error(`ENXIO: not a plain file, open '${path}'`), { code: "ENXIO" });
}

async function sortedNames(directory: string): Promise<string[]> {
  return ((await missingAsUndefined(fs.readdir(directory))) ?? []).sort();
}

function missingAsUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  return codesAsUndefined(["ENOENT", "ENOTDIR"], reading);
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
