import { EVERYONE } from "../system/secret_owners.ts";
import type { CommandIo } from "./io.ts";

/** Rows as aligned columns, the first as heading; empty columns are left out. */
export function table(rows: readonly (readonly string[])[]): string {
  // Words of others must not begin a row: an engine says which version it is.
  const flat = rows.map((row) => row.map((cell) => cell.replace(/\s*\n\s*/g, " ")));
  const [heading = [], ...body] = flat;
  const columns = heading.map((_, index) => index)
    .filter((index) => body.some((row) => (row[index] ?? "") !== ""));
  const width = (index: number) => Math.max(...flat.map((row) => [...row[index] ?? ""].length));
  const widths = columns.map(width);
  return flat.map((row) =>
    columns.map((index, at) => {
      const cell = row[index] ?? "";
      return at === columns.length - 1
        ? cell
        : cell + " ".repeat((widths[at] ?? 0) - [...cell].length);
    }).join("  ").trimEnd() + "\n"
  ).join("");
}

/** Characters that the last column has to have, to go on below itself. */
const LEAST_ROOM = 40;
const INDENT = "    ";

/**
 * The lines of a table in the width of a terminal, which breaks words and columns of a line that is longer.
 * Nothing is cut: the last column goes on below itself; where that has little room, it is whole below its
 * row. What is secret is masked before, as no mask recognizes a half of it.
 */
export function fitted(
  text: string,
  { columns, redactor }: Pick<CommandIo, "columns" | "redactor">,
): string {
  if (columns === undefined) return text;
  const lines = redactor.redact(text, EVERYONE).split("\n");
  const start = (lines[0] ?? "").lastIndexOf("  ") + 2;
  const room = columns - start;
  return lines.map((line) => {
    const letters = [...line];
    if (letters.length <= columns) return line;
    const [row, last] = [letters.slice(0, start).join(""), letters.slice(start).join("")];
    if (room >= LEAST_ROOM) return row + wrapped(last, room).join(`\n${" ".repeat(start)}`);
    const width = Math.max(columns - INDENT.length, 1);
    // A row begins where the others do, also one that has no mark in front.
    const [mark = ""] = /^ {0,4}/.exec(row) ?? [];
    const [first = "", ...more] = [...row.trimEnd()].length <= columns
      ? [row.slice(mark.length).trimEnd()]
      : wrapped(row, width, "  ");
    const below = [...more, ...wrapped(last, width)].map((each) => INDENT + each);
    return [mark + first, ...below].join("\n");
  }).join("\n");
}

/** Sentences in the width of a terminal, as {@link fitted} has a table: what is longer goes on below, indented. */
export function fittedLines(
  text: string,
  { columns, redactor }: Pick<CommandIo, "columns" | "redactor">,
): string {
  if (columns === undefined) return text;
  return redactor.redact(text, EVERYONE).split("\n").map((line) => {
    if ([...line].length <= columns) return line;
    const [before = ""] = /^ */.exec(line) ?? [];
    const below = before + INDENT;
    return before + wrapped(line, Math.max(columns - below.length, 1)).join(`\n${below}`);
  }).join("\n");
}

/**
 * The lines of a text that has no more than so many characters in each. It goes on below behind `between`,
 * else behind a word; only longer words are broken.
 */
function wrapped(text: string, width: number, between = " "): string[] {
  const until = [between, " "].map((each) => `\\S.{0,${width - 1}}(?=${each}|$)`).join("|");
  return [...text.trim().matchAll(new RegExp(`${until}|\\S{${width}}`, "gu"))]
    .map(([line]) => line.trimEnd());
}
