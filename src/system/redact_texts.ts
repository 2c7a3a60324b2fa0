import { createPauses, type Pauses } from "./pauses.ts";

/**
 * Fields that say what something is, by name, and how their values look. A secret of some repository
 * may be an ordinary word (`A_PASSWORD=complete`); what has one of these forms is never masked, so that
 * nobody decides what the state, the name or the time of anything is called.
 */
const WORD = /^[a-z][a-z_-]{0,40}$/;
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const COMMIT = /^(?:sha256:)?[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** A commit, or a reference with the beginning of one. */
const REVISION =
  /^(?:(?:sha256:)?[0-9a-f]{40}(?:[0-9a-f]{24})?|[\w./+@-]{1,250} \([0-9a-f]{12}\))$/;
/** Reasons of decisions; those that people give are words, too. */
const REASON =
  /^(?:no_changes|filter_mismatch|superseded|nothing_to_destroy|delay|budget_exhausted|sync_window|unnamed|paused)$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const RUN = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const STRUCTURAL: ReadonlyMap<string, RegExp> = new Map([
  ...["status", "state", "code", "trigger", "level", "action", "kind", "origin"].map((each) =>
    [each, WORD] as const
  ),
  ...["stack", "project", "context", "deployment"].map((each) => [each, NAME] as const),
  ...["commit", "digest"].map((each) => [each, COMMIT] as const),
  ["revision", REVISION],
  ["reason", REASON],
  ...["id", "run", "request_id", "job_id"].map((each) => [each, RUN] as const),
]);

/** Levels of lists and objects that are told of; thousands would end the stack of who looks at them. */
const DEEPEST = 256;

/**
 * `value` with every text in it redacted, but what the program itself says of a thing:
 * states, names of projects, codes, times, commits. To be used before something is written as JSON: in
 * the finished text a mask could swallow what ends a string.
 * What is nested deeper than {@link DEEPEST} levels is left out, with a word in its place.
 */
export function redactTexts<T>(value: T, redact: (text: string) => string): T {
  return redacted(value, redact, undefined, 0) as T;
}

function redacted(
  value: unknown,
  redact: (text: string) => string,
  name: string | undefined,
  depth: number,
): unknown {
  if (typeof value === "string") return isStructural(name, value) ? value : redact(value);
  if (value === null || typeof value !== "object" || value instanceof Date) return value;
  if (depth === DEEPEST) return "(nested too deep to be told)";
  if (Array.isArray(value)) {
    return value.map((each) => redacted(each, redact, undefined, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, redacted(field, redact, key, depth + 1)]),
  );
}

/**
 * As {@link redactTexts}, for an object whose members may be lists of megabytes: after entries that
 * hold many characters there is a pause, in which everything else has its turn.
 */
export async function redactLists<T extends object>(
  value: T,
  redact: (text: string) => string,
  pauses: Pauses = createPauses(),
): Promise<T> {
  let characters = 0;
  const counting = (text: string) => {
    characters += text.length;
    return redact(text);
  };
  const list = async (entries: readonly unknown[]) => {
    const done: unknown[] = [];
    for (const each of entries) {
      done.push(redacted(each, counting, undefined, 2));
      await pauses.after(characters);
      characters = 0;
    }
    return done;
  };
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const isList = Array.isArray(member);
    members.push([name, isList ? await list(member) : redacted(member, counting, name, 1)]);
  }
  return Object.fromEntries(members) as T;
}

/** True when the field of a name says what something is rather than what somebody wrote. */
function isStructural(name: string | undefined, value: string): boolean {
  if (name === undefined) return false;
  return STRUCTURAL.get(name)?.test(value) === true || TIME.test(value);
}

/**
 * The output of a command, redacted: texts one by one where it is JSON, so that it stays JSON
 * whatever the secrets are, else as a whole.
 */
export function redactOutput(text: string, redact: (text: string) => string): string {
  if (!/^[[{]/.test(text)) return redact(text);
  try {
    const value: unknown = JSON.parse(text);
    for (const indent of [undefined, 2]) {
      if (`${JSON.stringify(value, undefined, indent)}\n` !== text) continue;
      return `${JSON.stringify(redactTexts(value, redact), undefined, indent)}\n`;
    }
  } catch {
    // No JSON, and so a text for people.
  }
  return redact(text);
}
