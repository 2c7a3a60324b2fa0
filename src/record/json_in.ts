import { errors, type StackwrightError } from "../model/mod.ts";

/**
 * The value of a column with JSON. Throws `ledger_unusable` where it is none: only damage to the file, or
 * somebody else, makes it so.
 */
export function jsonIn(
  row: Readonly<Record<string, unknown>>,
  column: string,
): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(String(row[column]));
  } catch (cause) {
    // What the parser says quotes the text.
    throw damaged(`ledger is damaged (the column ${column} holds no JSON)`, cause);
  }
}

/** The error of a ledger that `found` tells of, with what to do about it. */
export function damaged(found: string, cause: unknown): StackwrightError {
  return errors.ledger_unusable(
    `the ${found}: stop Stackwright and restore state.db from a backup; without one, move it away and ` +
      "the stacks are adopted again at the next poll",
    { cause },
  );
}
