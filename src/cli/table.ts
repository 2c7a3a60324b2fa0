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
