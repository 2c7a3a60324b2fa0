import { errors, type StackwrightError } from "../model/mod.ts";

/** Parses a column with JSON. Throws `ledger_unusable` for anything else: the file is damaged then. */
export function jsonIn(
  row: Readonly<Record<string, unknown>>,
  column: string,
): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(String(row[column]));
  } catch (cause) {
    // Without the parser's message, which quotes the text.
    throw damaged(`ledger is damaged (the column ${column} holds no JSON)`, cause);
  }
}

/** The error for a damaged ledger; `found` names the damage, the message what to do about it. */
export function damaged(found: string, cause: unknown): StackwrightError {
  return errors.ledger_unusable(
    `the ${found}: stop Stackwright and restore state.db from a backup; without one, move it away and ` +
      "the stacks are adopted again at the next poll",
    { cause },
  );
}
