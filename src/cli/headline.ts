import { LAST_OUTPUT } from "../model/mod.ts";

/** The first line of a message for a table, without what a container printed. */
export function headline(message: string): string {
  return message.split(LAST_OUTPUT, 1)[0]?.split("\n", 1)[0] ?? "";
}

/** Characters of a sentence in a table; `explain` and `--json` have all of it. */
const MOST_IN_TABLE = 120;

/** A sentence as a table shows it. */
export function inTable(text: string): string {
  return shortened(text, MOST_IN_TABLE);
}

/** A command of ours in a sentence. */
const COMMAND = /\bstackwright [a-z]+(?: [^\s;,()]+){0,3}/g;

/** A text of at most so many characters: a command in it stays, since it says what to do. */
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const start = (length: number) => letters.slice(0, Math.max(length, 0)).join("");
  const cut = start(most - 1);
  const [lost] = text.matchAll(COMMAND).filter(({ 0: all, index }) =>
    index + all.length > cut.length
  );
  const command = lost?.[0] ?? "";
  if (command === "" || command.length > most / 2) return `${cut}…`;
  return `${start(most - 2 - command.length)}… ${command}`;
}
