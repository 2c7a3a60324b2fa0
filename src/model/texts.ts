/** Decodes UTF-8, with U+FFFD for invalid bytes; empty without bytes. */
export function utf8(bytes?: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * Like {@link utf8}, but keeps a byte order mark, which is a part of a name on disk: without it, a link
 * would be judged by another text than the one that the kernel follows.
 */
export function wholeUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Decodes UTF-8; `undefined` for invalid bytes. */
export function strictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The first characters of a text, in memory of their own: a slice keeps the whole text there. */
export function beginning(text: string, most: number): string {
  return text.length <= most ? text : utf8(new TextEncoder().encode(text.slice(0, most)));
}

/**
 * The first characters of a text, with `…` where something is missing. What is told of others is cut in
 * this way alone: before that sign the redactor hides shorter beginnings of secrets than elsewhere, while
 * their ends are hidden at the beginnings of lines alone.
 */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/**
 * Most characters of a message that is told or recorded: ten times as many as any of use has. What is
 * longer is cut before it is masked, which takes a second for a few megabytes.
 */
export const LONGEST_MESSAGE = 65_536;

/** Most characters of one of the names that {@link fewOf} tells. */
const LONGEST_OF_FEW = 1000;

/**
 * The first `most` names of many, separated by commas or `between`, with how many more there are. What
 * others named is told in this way: no message of theirs is long before it is masked, logged and kept.
 */
export function fewOf(names: readonly string[], most = 20, between = ", "): string {
  const more = names.length - most;
  const few = names.slice(0, most).map((each) => clip(each, LONGEST_OF_FEW));
  return few.join(between) + (more > 0 ? ` and ${more} more` : "");
}

/**
 * The first entries of a list whose JSON has at most `most` characters in total, converted by
 * `write`; further entries are not converted. Always keeps the first.
 */
export function fitting<T>(
  entries: readonly T[],
  most: number,
  write: (entry: T) => T = (entry) => entry,
): readonly T[] {
  const kept: T[] = [];
  let left = most;
  for (const entry of entries) {
    const written = write(entry);
    left -= JSON.stringify(written).length;
    if (left < 0 && kept.length > 0) break;
    kept.push(written);
  }
  return kept;
}

/** The last lines of a text that have at most so many characters together; of a longer last line, its beginning. */
export function lastWithin(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.indexOf("\n", text.length - most - 1);
  return end < 0 ? clip(text.slice(text.lastIndexOf("\n") + 1), most) : text.slice(end + 1);
}

/** Compares texts by code units, for sorting in the same order everywhere. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The place in a sorted list of the first value that is not before the one looked for, found in few looks:
 * lists may have tens of thousands, each looked for in turn.
 */
export function placeAmong<T>(sorted: readonly T[], isBefore: (each: T) => boolean): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(sorted[middle] as T)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Most characters of a path in a source: beside the data directory's own, no system takes much longer ones. */
export const LONGEST_SOURCE_PATH = 2048;

/** The names in a path, and its `..`: any number of slashes divides two, and `.` leads nowhere. */
export function partsOfPath(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/** Decodes percent escapes; returns the text unchanged where they are invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * `text` without the run of `sign` (one character) at its end. The pattern `/x+$/` would take
 * quadratic time with long runs of the sign in the middle.
 */
export function withoutEnd(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) end--;
  return text.slice(0, end);
}

/** A timestamp without fractions of a second, which sentences for people leave out. */
export function wholeSeconds(timestamp: Date | string): string {
  const text = typeof timestamp === "string" ? timestamp : timestamp.toISOString();
  return text.replace(/\.\d+/, "");
}

/** What stands between a message and the last lines that a container printed. */
export const LAST_OUTPUT = "; last output:\n";

/** The first line of a text; where it announces the others (`… failed:`), with the last of them, which says why. */
export function inOneLine(text: string): string {
  const [first = "", ...others] = text.trimEnd().split("\n");
  const last = others.at(-1)?.trim() ?? "";
  return last !== "" && first.endsWith(":") ? `${first} ${last}` : first;
}

/** A message in one line; of what a container printed the last one, which says why, behind `between`. */
export function endOfOutput(message: string, between = ": "): string {
  const [said = "", printed = ""] = message.split(LAST_OUTPUT, 2);
  const line = inOneLine(said);
  const last = printed.trimEnd().split("\n").at(-1)?.trim() ?? "";
  return last === "" ? line : line + between + last;
}

/** A message with what happened afterwards, which is said before the output of a container. */
export function withSequel(message: string, sequel: string): string {
  const at = message.indexOf(LAST_OUTPUT);
  const end = at < 0 ? message.length : at;
  return `${message.slice(0, end)}; ${sequel}${message.slice(end)}`;
}
