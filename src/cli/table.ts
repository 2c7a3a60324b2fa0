/**
 * Rows as lines of aligned columns, each as wide as its longest cell; the last one is not padded.
 * Empty columns are left out. The first row is the heading.
 */
export function table(rows: readonly (readonly string[])[]): string {
  const [heading = [], ...body] = rows;
  const columns = heading.map((_, index) => index)
    .filter((index) => body.some((row) => (row[index] ?? "") !== ""));
  const width = (index: number) => Math.max(...rows.map((row) => [...row[index] ?? ""].length));
  const widths = columns.map(width);
  return rows.map((row) =>
    columns.map((index, at) => {
      const cell = row[index] ?? "";
      return at === columns.length - 1
        ? cell
        : cell + " ".repeat((widths[at] ?? 0) - [...cell].length);
    }).join("  ").trimEnd() + "\n"
  ).join("");
}
