import { readFileSync } from "node:fs";

/** Ticks of the clock that Linux counts in for programs, whatever the kernel itself does. */
export const TICKS_PER_SECOND = 100;

/**
 * Processor seconds, of programs and of the kernel for them, of all children of a process that have ended
 * and been waited for, with theirs: what `/proc/PID/stat` says in `stat`. Nothing where it is no such text.
 */
export function secondsIn(stat: string): number | undefined {
  // The name before may have blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
  const ticks = Number(fields[13]) + Number(fields[14]);
  return Number.isFinite(ticks) ? ticks / TICKS_PER_SECOND : undefined;
}

/** The same of this process; nothing where the system has no such file. */
function childrenSeconds(): number | undefined {
  try {
    return secondsIn(readFileSync("/proc/self/stat", "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Counter of the processor seconds of children: asked when one has ended, it says what has been added since
 * it was last asked, by that child and by those that nobody asked for. Of two that end in the same
 * millisecond the first one gets both; the sum is right. What a child leaves behind, and what an engine
 * does that it did not start, is not counted.
 */
export function childrenCounter(
  now: () => number | undefined = childrenSeconds,
): () => number | undefined {
  let before = now();
  return () => {
    const after = now();
    if (before === undefined || after === undefined) return undefined;
    const added = after - before;
    before = after;
    return added;
  };
}
