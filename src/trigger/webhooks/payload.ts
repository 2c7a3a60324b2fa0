import { listOf, StackwrightError } from "../../model/mod.ts";

/** Longest text that is taken from a payload. */
const LONGEST_TEXT = 2048;

/** The value at a path of keys inside a JSON value; `undefined` when there is nothing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (at === null || typeof at !== "object" || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** The text there, trimmed; empty when there is none, or one that nothing real is as long as. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" && found.length <= LONGEST_TEXT ? found.trim() : "";
}

/** The items there; empty when there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return listOf(valueAt(value, ...path));
}

/** True for a commit id other than the one of zeros, which stands for none. */
export function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/i.test(text) && !/^0+$/.test(text);
}

/** The full name of a reference whose type the event tells; what is full already stays. */
export function fullReference(name: string, type: "branch" | "tag"): string {
  if (name === "" || name.startsWith("refs/")) return name;
  return `refs/${type === "branch" ? "heads" : "tags"}/${name}`;
}

/** A payload that is not what its sender says it is. */
export function malformed(detail: string): StackwrightError {
  return new StackwrightError("bad_request", "failed to parse payload", {
    problems: [{ file: "request", message: detail }],
  });
}
