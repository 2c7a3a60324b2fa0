import { EVERYONE } from "../system/secret_owners.ts";
import { shortened } from "./headline.ts";
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

/**
 * The lines of a table, cut to the width of a terminal: a line that goes on below has lost its columns. What
 * is secret is masked before, as no mask recognizes a half of it.
 */
export function fitted(
  text: string,
  { columns, redactor }: Pick<CommandIo, "columns" | "redactor">,
): string {
  if (columns === undefined) return text;
  return redactor.redact(text, EVERYONE).split("\n").map((line) => shortened(line, columns))
    .join("\n");
}
