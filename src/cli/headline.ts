import { LAST_OUTPUT } from "../model/mod.ts";

/** The first line of a message for a table, without what a container printed. */
export function headline(message: string): string {
  return message.split(LAST_OUTPUT, 1)[0]?.split("\n", 1)[0] ?? "";
}

/** Characters of a sentence in a table; `explain` and `--json` have all of it. */
const MOST_IN_TABLE = 120;

/** A sentence as a table shows it. */
export function inTable(text: string): string {
  return text.length > MOST_IN_TABLE ? `${text.slice(0, MOST_IN_TABLE - 1)}…` : text;
}
