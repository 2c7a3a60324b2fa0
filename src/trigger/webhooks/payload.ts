import { listOf, requestError, type StackwrightError, valueAt } from "../../model/mod.ts";

/** Longest text that is taken from a payload. */
const LONGEST_TEXT = 2048;

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
  return requestError("failed to parse payload", detail);
}
