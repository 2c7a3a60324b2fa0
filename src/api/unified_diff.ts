import { createTwoFilesPatch } from "diff";

/** Unchanged lines to show around changes. */
const CONTEXT = 3;
/**
 * Most changed lines for the shortest diff: finding it takes quadratic time, and repositories
 * decide how many lines change. Beyond, everything between the first and last change is one hunk.
 */
const MOST_EDITS = 1000;

/** A unified diff of two texts; empty when they are equal. Not the shortest for large changes. */
export function unifiedDiff(from: string, to: string, before: string, after: string): string {
  if (before === after) return "";
  const options = { context: CONTEXT, maxEditLength: MOST_EDITS };
  const patch = createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  return patch?.replace(/^=+\n/, "") ?? `--- ${from}\n+++ ${to}\n${oneHunk(before, after)}`;
}

/** One hunk from the first to the last line that differs. */
function oneHunk(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const first = Math.max(0, start - CONTEXT);
  const tail = Math.min(end, CONTEXT);
  const range = ({ length }: readonly string[]) => {
    const count = length - end + tail - first;
    return `${count === 0 ? first : first + 1},${count}`;
  };
  const shown = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line);
  return [
    `@@ -${range(old)} +${range(now)} @@\n`,
    ...shown(" ", old.slice(first, start)),
    ...shown("-", old.slice(start, old.length - end)),
    ...shown("+", now.slice(start, now.length - end)),
    ...shown(" ", old.slice(old.length - end, old.length - end + tail)),
  ].join("");
}

/** The lines of a text with their ends. Takes linear time for any text. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines with their ends; notes a missing newline at the end of the last one. */
function linesOf(text: string): readonly string[] {
  const lines = splitLines(text);
  return text === "" || text.endsWith("\n")
    ? lines
    : [...lines.slice(0, -1), `${lines.at(-1)}\n\\ No newline at end of file\n`];
}
