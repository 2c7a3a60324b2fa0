import { listOf, requestError, type StackwrightError, valueAt } from "../../model/mod.ts";

const LONGEST_TEXT = 2048;

/** Blanks that no name of a branch has: without others that one ends in, it would be another branch's. */
const BLANKS = "\t\n\r ";

/** The text at a path, without {@link BLANKS} around it; empty where there is none, or one too long to be real. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" && found.length <= LONGEST_TEXT ? withoutBlanks(found) : "";
}

/** A text without the blanks around it. No pattern: one that looks for blanks at an end is quadratic. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && BLANKS.includes(text.charAt(from))) from++;
  while (to > from && BLANKS.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** The items of the list at a path; empty when there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return listOf(valueAt(value, ...path));
}

/** True for a commit id that is not all zeros, which stands for none. */
export function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/i.test(text) && !/^0+$/.test(text);
}

/**
 * The full name of a reference that the event tells by its short name and its type. The name alone does
 * not tell: a branch may be called `refs/tags/v1`, by somebody who may not push tags.
 */
export function fullReference(name: string, type: "branch" | "tag"): string {
  return name === "" ? "" : `refs/${type === "branch" ? "heads" : "tags"}/${name}`;
}

/** The error for a payload that its sender's format does not allow. */
export function malformed(detail: string): StackwrightError {
  return requestError("failed to parse payload", detail);
}
