/** The first line of a message for a table, without the ending that announces further lines. */
export function headline(message: string): string {
  const [line = ""] = message.split("\n");
  return line.replace(/; last output:$/, "");
}

/** Characters of a sentence in a table; `explain` and `--json` have all of it. */
const MOST_IN_TABLE = 120;

/** A sentence as a table shows it. */
export function inTable(text: string): string {
  return text.length > MOST_IN_TABLE ? `${text.slice(0, MOST_IN_TABLE - 1)}…` : text;
}
