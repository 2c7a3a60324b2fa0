import { readdirSync } from "node:fs";
import { procTextNow } from "./files_now.ts";

/** Pause between two looks, in milliseconds: within it a program in Go takes a few hundred megabytes. */
const EVERY_MS = 100;
/** Bytes of a page on machines whose pages are the smallest: larger ones make the bound larger. */
const PAGE_BYTES = 4096;
/** Generations of children that are looked at: docker starts its plugins. */
const DEEPEST = 3;

/**
 * Watches the memory that a program and its children have: where the kernel cannot be told to bound it, and
 * beside that, since it lets a program in Go pass its bound once, by any amount. What is shared with files
 * does not count. Calls `onTooMuch` once when it is more than `most` bytes. Returns what ends the watch.
 * Does nothing where there is no `/proc`.
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
  const [, resident = 0, shared = 0] = procTextNow(`/proc/${pid}/statm`).split(" ").map(Number);
  const own = resident - shared;
  if (depth >= DEEPEST) return own;
  return childrenOf(pid).reduce((sum, child) => sum + pagesOf(child, depth + 1), own);
}

/** Processes that another one started, by any of its threads; none for one that has ended. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      procTextNow(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number)
    );
  } catch {
    return [];
  }
}
