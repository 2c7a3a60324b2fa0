import { search } from "@jmespath-community/jmespath";
import { unresolved } from "./provider.ts";

/**
 * Finds the value in the answer of a store. The result is a text, number or boolean, or a list that
 * begins with one, as filters give it.
 *
 * Throws `secret_unresolved`; its message has the place in the expression, never the answer.
 */
export function searchValue(answer: unknown, expression: string): string {
  if (expression.trim() === "") throw unresolved("json_path is empty after its template");
  let found: unknown;
  try {
    found = search(answer as Parameters<typeof search>[0], expression);
  } catch {
    // Messages of the library quote the expression, and with it what a repository wrote.
    throw unresolved("json_path is not a valid JMESPath expression, or does not fit the answer");
  }
  const value = Array.isArray(found) ? found[0] : found;
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const kind = value === undefined || value === null ? "nothing" : "a list or an object";
  throw unresolved(`json_path finds ${kind} in the answer, expected text`);
}

/** Outside of quotes: names and indices only, so that no value adds another step of its own. */
const PLAIN = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+|\[\d+\])*$/;

/** Escapes a value for its place in an expression: what repositories write must add no step. */
export function escapeForJsonPath(value: string, before: string): string {
  const quote = openQuote(before);
  switch (quote) {
    case "'":
      return value.replace(/[\\']/g, "\\$&");
    case '"':
      return JSON.stringify(value).slice(1, -1);
    case "`":
      return JSON.stringify(value).slice(1, -1).replaceAll("`", "\\u0060");
    default:
      if (PLAIN.test(value)) return value;
      throw unresolved("a value of remote_ref does not fit into json_path without quotes there");
  }
}

/** The quote that is open at the end of a text, which must not escape what comes next. */
function openQuote(text: string): string {
  let open = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (open !== "" && character === "\\" && ++at === text.length) {
      throw unresolved("a value in json_path has a backslash in front of it: double it");
    } else if (open === character) open = "";
    else if (open === "" && /["'`]/.test(character)) open = character;
  }
  return open;
}
