import { readdirSync } from "node:fs";
import { count } from "./count.ts";
import { procTextNow } from "./files_now.ts";

/** Pause between two looks, in milliseconds: within it a program in Go takes a few hundred megabytes. */
const EVERY_MS = 100;
/** Bytes of a page on machines whose pages are the smallest: larger ones make the bound larger. */
const PAGE_BYTES = 4096;
/** Generations of children that are looked at: docker starts its plugins. */
const DEEPEST = 3;

/** Part of a {@link SharedMemory} for the programs of one owner. */
export interface MemoryShare {
  /** Notes what a program has now, and what ends it; ends one where that is too much together. */
  note(end: () => void, bytes: number): void;
  /** Forgets a program, which has ended or is about to. */
  leave(end: () => void): void;
}

/**
 * Memory that several programs may have together. Where they have more, the largest of the owner who has the
 * most is ended: many that each have little would take all of a machine's, and who has little pays for no other.
 */
export class SharedMemory {
  readonly #most: number;
  /** Bytes that each has, by what ends it. */
  readonly #used = new Map<() => void, { readonly owner: string; readonly bytes: number }>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The part for programs of an owner. */
  of(owner: string): MemoryShare {
    return {
      note: (end, bytes) => {
        this.#used.set(end, { owner, bytes });
        this.#requireRoom();
      },
      leave: (end) => void this.#used.delete(end),
    };
  }

  #requireRoom(): void {
    const owners = new Map<string, number>();
    for (const { owner, bytes } of this.#used.values()) count(owners, owner, bytes);
    if (owners.values().reduce((sum, each) => sum + each, 0) <= this.#most) return;
    const ofOwner = ({ owner }: { readonly owner: string }) => owners.get(owner) ?? 0;
    const [[largest] = []] = [...this.#used].sort(([, one], [, other]) =>
      ofOwner(other) - ofOwner(one) || other.bytes - one.bytes
    );
    largest?.();
  }
}

/**
 * Watches the memory that a program and its children have: where the kernel cannot be told to bound it, and
 * beside that, since it lets a program in Go pass its bound once, by any amount. What is shared with files
 * does not count. Calls `onTooMuch` once when it is more than the program may have by itself, or with
 * others. Returns what ends the watch. Does nothing where there is no `/proc`.
 *
 * A program that `isAtRest` gets one more look, since it may have grown right before: dozens that wait a
 * minute for the next question would cost more than what they were asked for.
 */
export function watchMemory(
  pid: number,
  { mostMemory = Infinity, sharedMemory, isAtRest = () => false }: {
    readonly mostMemory?: number;
    readonly sharedMemory?: MemoryShare;
    readonly isAtRest?: (() => boolean) | undefined;
  },
  onTooMuch: () => void,
): () => void {
  const unwatch = () => {
    clearInterval(timer);
    sharedMemory?.leave(end);
  };
  const end = () => {
    unwatch();
    onTooMuch();
  };
  let wasAtRest = false;
  const timer = setInterval(() => {
    const rested = wasAtRest;
    wasAtRest = isAtRest();
    if (rested && wasAtRest) return;
    const bytes = pagesOf(pid, 0) * PAGE_BYTES;
    if (bytes > mostMemory) end();
    else sharedMemory?.note(end, bytes);
  }, EVERY_MS);
  return unwatch;
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
