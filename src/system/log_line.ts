import { clip, messageOf, stackKey, StackwrightError } from "../model/mod.ts";
import { redactTexts } from "./redact_texts.ts";
import { isRoutine } from "./routine.ts";
import { sourceAsOwner, stackAsOwner } from "./secret_owners.ts";
import { visible } from "./visible.ts";
import type { LogOptions } from "./log_options.ts";

/** Levels as lines name them. */
export type LineLevel = "debug" | "info" | "warning" | "error" | "critical";

/** What a line says. */
export interface Said {
  readonly level: LineLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** One line of the log, with its line break, and with the first `most` characters of its texts. */
export function formatLine(
  { level, message: told, fields: given }: Said,
  { time, most }: { readonly time: string; readonly most: number },
  options: LogOptions,
): string {
  const about = aboutOf(given);
  const { redactor } = options;
  const masked = isRoutine(told)
    ? (text: string) => redactor.redactKnown(text, ...about)
    : (text: string) => redactor.redact(text, ...about);
  let left = most;
  const redact = (text: string) => {
    const shown = clip(text, left);
    left = Math.max(0, left - text.length);
    return masked(shown);
  };
  const message = redact(told);
  const texts = Object.entries(given).map(([name, value]) => [name, printable(value)]);
  const fields = redactTexts(Object.fromEntries(texts), redact);
  if (options.format === "json") {
    // JSON leaves some controls as they are: 0x9b begins commands as escape does.
    return visible(JSON.stringify({ time, level, msg: message, ...fields })) + "\n";
  }
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`
    );
  // Further lines are indented: foreign texts could otherwise fake lines of ours.
  const priority = options.format === "journal" ? `<${PRIORITIES[level]}>` : "";
  const lines = visible(`${message}${rest.join("")}`)
    .replaceAll("\n", `\n${priority}${" ".repeat(18)}`);
  if (options.format === "journal") return `${priority}${lines}\n`;
  return `${time.slice(11, 19)} ${level.padEnd(8)} ${lines}\n`;
}

/** The stack and the source that a line is about. */
function aboutOf({ context, stack, repository }: Readonly<Record<string, unknown>>): string[] {
  const where = typeof context === "string" ? context : "";
  return [
    ...(typeof stack === "string" ? [stackAsOwner(stackKey(where, stack))] : []),
    ...(typeof repository === "string" ? [sourceAsOwner(repository)] : []),
  ];
}

/** Priorities of syslog(3) for our levels. */
const PRIORITIES: Readonly<Record<LineLevel, number>> = {
  debug: 7,
  info: 6,
  warning: 4,
  error: 3,
  critical: 2,
};

/** Causes of an error that are shown; one that is its own cause has no end of them. */
const MOST_CAUSES = 10;

/**
 * A field as JSON can have it; a line is never lost because a value has no JSON form. Errors print as
 * message and causes: a stack names our files, not what went wrong.
 */
function printable(value: unknown, depth = 0): unknown {
  if (!(value instanceof Error)) return depth === 0 ? asJson(value) : value;
  const code = value instanceof StackwrightError ? `${value.code}: ` : "";
  const cause = value.cause === undefined || depth === MOST_CAUSES
    ? ""
    : `; cause: ${printable(value.cause, depth + 1)}`;
  return `${code}${messageOf(value)}${cause}`;
}

function asJson(value: unknown): unknown {
  if (typeof value !== "object" && typeof value !== "bigint") return value;
  try {
    // As it will be written: what redacts looks at plain objects, and some write themselves otherwise.
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return String(value);
  }
}
