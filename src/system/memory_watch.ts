import { readFileSync } from "node:fs";

/** Pause between two looks, in milliseconds: within it a program in Go takes a few hundred megabytes. */
const EVERY_MS = 100;
/** Bytes of a page on machines whose pages are the smallest: larger ones make the bound larger. */
const PAGE_BYTES = 4096;
/** Generations of children that are looked at: docker starts its plugins. */
const DEEPEST = 3;

/**
 * Watches the memory that a program and its children have, where the kernel cannot be told to bound it.
 * Calls `onTooMuch` once when it is more than `most` bytes. Returns what ends the watch. Does nothing
 * where there is no `/proc`.
 */
export function watchMemory(pid: number, most: number, onTooMuch: () => void): () => void {
  const timer = setInterval(() => {
    if (pagesOf(pid, 0) * PAGE_BYTES <= most) return;
    clearInterval(timer);
    onTooMuch();
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** Pages in memory of a process and its children; 0 for one that has ended. */
function pagesOf(pid: number, depth: number): number {
  const own = Number(readText(`/proc/${pid}/statm`).split(" ")[1] ?? 0);
  if (depth >= DEEPEST) return own;
  const children = readText(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  return children.reduce((sum, child) => sum + pagesOf(Number(child), depth + 1), own);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
