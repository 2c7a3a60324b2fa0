import { formatPatch, structuredPatch } from "diff";
import { plainModel } from "../config/mod.ts";

/** Unchanged lines to show around changes. */
const CONTEXT = 3;
/**
 * Most changed lines for the shortest diff, and most lines of each text between the first and the
 * last change: finding it takes up to the product of both, and repositories decide about them.
 * Beyond, everything between these changes is one hunk.
 */
const MOST = { edits: 400, lines: 20_000 } as const;

/** A unified diff of two texts; empty when they are equal. Not the shortest for large changes. */
export function unifiedDiff(from: string, to: string, before: string, after: string): string {
  if (before === after) return "";
  const { start, end } = sameEnds(before, after);
  let first = start;
  for (let left = CONTEXT; left > 0 && first > 0; left--) first = lineStart(before, first - 1);
  let tail = end;
  for (let left = CONTEXT; left > 0 && tail > 0; left--) {
    tail = before.length - lineEnd(before, before.length - tail);
  }
  const [old, now] = [before, after].map((text) => text.slice(first, text.length - tail));
  const above = linesIn(before.slice(0, first));
  const hunks = shortest(old ?? "", now ?? "", above) ??
    oneHunk(old ?? "", now ?? "", { start: start - first, end: end - tail, above });
  return `--- ${from}\n+++ ${to}\n${hunks}`;
}

/** The diff of a plan: its masked models as their author would write them. */
export function plannedDiff(
  { before, after }: { readonly before: string; readonly after: string },
): string {
  return unifiedDiff("deployed", "planned", plainModel(before), plainModel(after));
}

/** Characters at the beginning and at the end of two texts that are whole lines of both. */
function sameEnds(before: string, after: string): { readonly start: number; readonly end: number } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  start = lineStart(before, start);
  const at = (text: string, fromEnd: number) => text.charCodeAt(text.length - fromEnd);
  let end = 0;
  while (end < most - start && at(before, end + 1) === at(after, end + 1)) end++;
  const isWhole = [before, after].every((text) => {
    return text.length - end === lineStart(text, text.length - end);
  });
  return { start, end: isWhole ? end : before.length - lineEnd(before, before.length - end) };
}

/** The hunks of the shortest diff; `undefined` where finding it takes too long. */
function shortest(old: string, now: string, above: number): string | undefined {
  if (Math.max(linesIn(old), linesIn(now)) > MOST.lines) return undefined;
  const options = { context: CONTEXT, maxEditLength: MOST.edits };
  const patch = structuredPatch("", "", old, now, undefined, undefined, options);
  if (patch === undefined) return undefined;
  const hunks = patch.hunks.map(({ oldStart, newStart, ...rest }) => (
    { ...rest, oldStart: oldStart + above, newStart: newStart + above }
  ));
  return formatPatch({ ...patch, hunks }).replace(/^[^@]*/, "");
}

/** One hunk of two texts that are equal up to `start` and for `end` characters before their ends. */
function oneHunk(
  old: string,
  now: string,
  { start, end, above }: { readonly start: number; readonly end: number; readonly above: number },
): string {
  const range = (text: string) => `${text === "" ? above : above + 1},${linesIn(text)}`;
  return [
    `@@ -${range(old)} +${range(now)} @@\n`,
    marked(" ", old.slice(0, start)),
    marked("-", old.slice(start, old.length - end)),
    marked("+", now.slice(start, now.length - end)),
    marked(" ", old.slice(old.length - end)),
  ].join("");
}

/** A text with a sign before each line; notes a missing newline at its end. */
function marked(sign: string, text: string): string {
  if (text === "") return "";
  const isEnded = text.endsWith("\n");
  const lines = sign + (isEnded ? text.slice(0, -1) : text).split("\n").join(`\n${sign}`);
  return isEnded ? `${lines}\n` : `${lines}\n\\ No newline at end of file\n`;
}

/** Start of the line with the character at `at`. */
function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Start of the line after the one with the character at `at`. */
function lineEnd(text: string, at: number): number {
  return text.indexOf("\n", at) + 1 || text.length;
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = 0; at < text.length; at = lineEnd(text, at)) lines++;
  return lines;
}

/** The lines of a text with their ends. Takes linear time for any text. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
