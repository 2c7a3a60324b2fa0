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

/**
 * Characters of a text in a table; `explain` and `--json` have all of it. What Stackwright itself says has
 * less, and ends with what to do: it is never cut. What programs and engines said may be longer.
 */
const MOST_IN_TABLE = 640;

/** A text as a table shows it. What is secret is masked before, as no mask recognizes a half of it. */
export function inTable(text: string, { redactor }: Pick<CommandIo, "redactor">): string {
  if (text.length <= MOST_IN_TABLE) return text;
  return shortened(redactor.redact(text, EVERYONE), MOST_IN_TABLE);
}

/**
 * A text of at most so many characters, cut in the middle of its longest sentence alone where that is
 * enough: it is what others said, and the others say what to do. A cause stands at the end.
 */
export function shortened(text: string, most: number): string {
  const over = [...text].length - most;
  if (over <= 0) return text;
  const sentences = text.split(/(?<=[.;] )/);
  const longest = sentences.reduce((one, other) => other.length > one.length ? other : one);
  const room = [...longest].length - over;
  if (room < most / 4) return cut(text, most);
  return sentences.map((each) => each === longest ? cut(longest, room) : each).join("");
}

function cut(text: string, most: number): string {
  const letters = [...text];
  const half = Math.floor((most - 1) / 2);
  const [start, end] = [letters.slice(0, most - 1 - half), letters.slice(letters.length - half)];
  return `${toWord(start.join(""))}…${fromWord(end.join(""))}`;
}

/** The beginning of a text, up to the end of a word. */
function toWord(text: string): string {
  return text.replace(/ \S{0,20}$/, "");
}

/** The end of a text, from the beginning of a word. */
function fromWord(text: string): string {
  return text.replace(/^\S{1,20} /, "");
}
