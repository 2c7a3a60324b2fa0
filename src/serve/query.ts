import { requestError } from "./problem.ts";

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/**
 * A boolean query parameter; absent or empty is `fallback`. Accepts the usual spellings of Go's
 * clients: 1, t, true, 0, f, false, in lower, upper or title case. Throws `bad_request`.
 */
export function readBoolean(query: URLSearchParams, name: string, fallback: boolean): boolean {
  const text = query.get(name) ?? "";
  if (text === "") return fallback;
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw invalidParameter(name, `'${name}' parameter must be true or false`);
}

/** A whole number from 1; absent or empty is `undefined`. Throws `bad_request`. */
export function readPositiveInteger(query: URLSearchParams, name: string): number | undefined {
  const text = (query.get(name) ?? "").trim();
  if (text === "") return undefined;
  const value = /^\+?\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw invalidParameter(name, `'${name}' parameter must be a positive integer`);
}

/**
 * One of `choices`, in any case; absent or empty is `undefined`. `what` names it in the error
 * (`deployment run status`). Throws `bad_request`.
 */
export function readChoice<Choice extends string>(
  query: URLSearchParams,
  name: string,
  { what, choices }: { readonly what: string; readonly choices: readonly Choice[] },
): Choice | undefined {
  const text = (query.get(name) ?? "").trim().toLowerCase();
  if (text === "") return undefined;
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw requestError(`invalid ${what}`, `valid ${name} values: ${choices.join(", ")}`);
}

function invalidParameter(name: string, detail: string) {
  return requestError(`invalid parameter: ${name}`, detail);
}
