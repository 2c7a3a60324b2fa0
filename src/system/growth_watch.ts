import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** A directory that a program writes into, and the bytes by which it may grow. */
export interface Growth {
  readonly directory: string;
  readonly mostBytes: number;
}

/** Least pause between two looks, in milliseconds; a look at many files is followed by a longer one. */
const EVERY_MS = 500;
const TIMES_AS_LONG = 5;
/** Bytes that a disk needs for a file, however small it is. */
const FILE_BYTES = 4096;

/**
 * Watches the growth of a directory and its direct subdirectories: the kernel limits the size of each
 * file, but not their number. Calls `onTooMuch` once. Returns a function that ends the watch.
 */
export function watchGrowth({ directory, mostBytes }: Growth, onTooMuch: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  let before: number | undefined;
  const look = async () => {
    const began = performance.now();
    const bytes = await bytesBelow(directory, 1);
    before ??= bytes;
    if (ended) return;
    if (bytes - before > mostBytes) return onTooMuch();
    const took = performance.now() - began;
    timer = setTimeout(look, Math.max(EVERY_MS, TIMES_AS_LONG * took));
  };
  void look();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Bytes of the files in a directory, and `depth` levels below it. Vanished files count as empty. */
export async function bytesBelow(directory: string, depth: number): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) bytes += FILE_BYTES + await sizeOf(path);
    else if (depth > 0) bytes += await bytesBelow(path, depth - 1);
  }
  return bytes;
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
