import { endOfOutput, inOneLine, LAST_OUTPUT } from "../model/mod.ts";
import { EVERYONE } from "../system/secret_owners.ts";
import type { CommandIo } from "./io.ts";

/** A message in one line for a table, without what a container printed. */
export function headline(message: string): string {
  return inOneLine(message.split(LAST_OUTPUT, 1)[0] ?? "");
}

/** As {@link headline}, with the last line that a container printed: it says why. */
export function withLastLine(message: string): string {
  return endOfOutput(message, LAST_OUTPUT.replace("\n", " "));
}

/** Characters of a sentence in a table; `explain` and `--json` have all of it. */
const MOST_IN_TABLE = 300;

/** A sentence as a table shows it. What is secret is masked before, as no mask recognizes a half of it. */
export function inTable(text: string, { redactor }: Pick<CommandIo, "redactor">): string {
  if (text.length <= MOST_IN_TABLE) return text;
  return shortened(redactor.redact(text, EVERYONE), MOST_IN_TABLE);
}

/** What a cut leaves: a command of ours, and that what is advised deletes data. */
const KEPT =
  /\bstackwright [a-z]+(?: [^\s;,()]+){0,3}|\b(?:destroy: true, which )?deletes? its volumes[^;,]{0,70}/g;

/**
 * A text of at most so many characters, cut in its middle: a cause stands at the end. A command in it
 * stays, since it says what to do, and so does the danger of what is advised.
 */
export function shortened(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const part = (start: number, end = letters.length) => letters.slice(start, end).join("");
  const half = Math.floor((most - 1) / 2);
  const [lost] = text.matchAll(KEPT).map(({ 0: kept, index }) => {
    const start = [...text.slice(0, index)].length;
    return { start, end: start + [...kept].length };
  }).filter(({ start, end }) => end >= most - half && start <= letters.length - half);
  if (lost === undefined || lost.end - lost.start > most / 2) {
    return `${toWord(part(0, most - 1 - half))}…${fromWord(part(letters.length - half))}`;
  }
  // What is before it and what is behind it share the room that it leaves.
  const { start, end } = lost;
  const share = Math.max(Math.floor((most - (end - start)) / 2) - 2, 0);
  const tail = letters.length - end <= share
    ? part(end)
    : ` …${fromWord(part(letters.length - share))}`;
  const head = toWord(part(0, most - 2 - (end - start) - [...tail].length));
  return `${head}… ${part(start, end)}${tail}`;
}

/** The beginning of a text, up to the end of a word. */
function toWord(text: string): string {
  return text.replace(/ \S{0,20}$/, "");
}

/** The end of a text, from the beginning of a word. */
function fromWord(text: string): string {
  return text.replace(/^\S{1,20} /, "");
}
