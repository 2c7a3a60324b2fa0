import { nearestKey } from "../config/mod.ts";
import { MOST_CONTAINERS, requestError } from "../model/mod.ts";

/** Reads one query parameter; `undefined` when it is absent or empty. Throws `bad_request`. */
export type QueryReader = (query: URLSearchParams, name: string) => unknown;

const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const FALSE = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** A boolean as Go's clients spell it: 1, t, true, 0, f, false, in lower, upper or title case. */
export function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const given = query.get(name) ?? "";
  if (given === "") return undefined;
  if (TRUE.has(given)) return true;
  if (FALSE.has(given)) return false;
  throw invalidParameter(name, `'${name}' parameter must be true or false`);
}

/** A boolean that is true for `true` in any case and for 1, and false for everything else. */
export function lenientBoolean(query: URLSearchParams, name: string): boolean {
  return /^(?:true|1)$/i.test(query.get(name) ?? "");
}

/** A whole number from 1. */
export function positiveInteger(query: URLSearchParams, name: string): number | undefined {
  const given = spaceless(query, name);
  if (given === "") return undefined;
  const value = /^\+?\d+$/.test(given) ? Number(given) : 0;
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw invalidParameter(name, `'${name}' parameter must be a positive integer`);
}

/** A number of tasks. */
export function replicas(query: URLSearchParams, name: string): number | undefined {
  const given = spaceless(query, name);
  if (given === "") return undefined;
  if (/^\+?\d+$/.test(given) && Number(given) <= MOST_CONTAINERS) return Number(given);
  throw requestError(
    `missing or invalid ${name} parameter`,
    `'${name}' parameter is required and must be a non-negative integer of at most ` +
      MOST_CONTAINERS,
  );
}

/** Seconds to wait, at most `most`; `what` names the subject in errors. */
export function seconds(most: number, what = "project"): QueryReader {
  return (query, name) => {
    const given = spaceless(query, name);
    if (given === "") return undefined;
    if (!/^[+-]?\d+$/.test(given)) {
      throw invalidParameter(name, `'${name}' parameter must be an integer`);
    }
    if (Number(given) >= 1 && Number(given) <= most) return Number(given);
    throw requestError(`invalid ${what} timeout`, `must be between 1 and ${most} seconds`);
  };
}

/** Parameters that doco-cd accepts on every managing route, so that clients may send them anywhere. */
const COMMON = ["timeout"];

/** Refuses unknown parameters: a misspelt filter would change more than its author meant. */
export function requireKnownNames(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...query.keys()].find((name) => ![...known, ...COMMON].includes(name));
  if (unknown === undefined) return;
  const near = nearestKey(unknown, known);
  const advice = near !== undefined
    ? `did you mean '${near}'?`
    : known.length === 0
    ? "it takes none"
    : `it takes ${known.join(", ")}`;
  throw requestError("unknown parameter", `there is a parameter that is not known here: ${advice}`);
}

/** Any text without control characters and without other white space than blanks at its ends. */
export function text(query: URLSearchParams, name: string): string | undefined {
  const given = spaceless(query, name);
  if (given === "") return undefined;
  if (given === given.trim() && !/\p{Cc}/u.test(given)) return given;
  throw invalidParameter(name, `'${name}' parameter must be plain text`);
}

/** One of `choices`, in any case; `what` names it in the error (`deployment run status`). */
export function choice<Choice extends string>(
  what: string,
  choices: readonly Choice[],
): (query: URLSearchParams, name: string) => Choice | undefined {
  return (query, name) => {
    const given = spaceless(query, name).toLowerCase();
    if (given === "") return undefined;
    const found = choices.find((each) => each === given);
    if (found !== undefined) return found;
    throw requestError(`invalid ${what}`, `valid ${name} values: ${choices.join(", ")}`);
  };
}

/**
 * A parameter without the blanks around it, which often come by pasting. Other white space (no-break
 * spaces, line ends) stays a part of the value, so that it is not taken for an absent parameter.
 */
function spaceless(query: URLSearchParams, name: string): string {
  const given = query.get(name) ?? "";
  let [from, to] = [0, given.length];
  while (given[from] === " ") from++;
  while (to > from && given[to - 1] === " ") to--;
  return given.slice(from, to);
}

function invalidParameter(name: string, detail: string) {
  return requestError(`invalid parameter: ${name}`, detail);
}
