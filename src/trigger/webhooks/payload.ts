import { listOf, requestError, type StackwrightError, valueAt } from "../../model/mod.ts";

const LONGEST_TEXT = 2048;

/** The text at a path, trimmed; empty when there is none or when it is too long to be real. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" && found.length <= LONGEST_TEXT ? found.trim() : "";
}

/** The items of the list at a path; empty when there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return listOf(valueAt(value, ...path));
}

/** True for a commit id that is not all zeros, which stands for none. */
export function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/i.test(text) && !/^0+$/.test(text);
}

/** The full name of a reference whose type the event tells; full names stay as they are. */
export function fullReference(name: string, type: "branch" | "tag"): string {
  if (name === "" || name.startsWith("refs/")) return name;
  return `refs/${type === "branch" ? "heads" : "tags"}/${name}`;
}

/** The error for a payload that its sender's format does not allow. */
export function malformed(detail: string): StackwrightError {
  return requestError("failed to parse payload", detail);
}
