import {
  configureSync,
  getLogger,
  type LogLevel as LibraryLevel,
  type LogRecord,
  type Sink,
} from "@logtape/logtape";
import { messageOf, StackwrightError } from "../model/mod.ts";
import { redactTexts } from "./redact_texts.ts";
import { NO_STACK, type Redactor, stackAsOwner } from "./redactor.ts";
import { visible } from "./visible.ts";
import { createTimeFormat } from "./time_format.ts";

/** Levels of `LOG_LEVEL`. `critical` lines precede an exit and always show. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Fields of a line besides its text. The names in use are `job_id`, `repository`, `target`,
 * `stack`, `reference`, `revision`, `context`, `stage`, `component`, `error`.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/** The port that diagnostics go to. Calls never throw and never wait. */
export interface Log {
  /** Fields that take work to find out are given as a function, which is called only to be shown. */
  debug(message: string, fields?: LogFields | (() => LogFields)): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** For the last line before the process gives up. */
  critical(message: string, fields?: LogFields): void;
  /** The same log with `fields` on every line; later values win. */
  with(fields: LogFields): Log;
}

/** Options of how lines are written. */
export interface LogOptions {
  readonly level: LogLevel;
  /** IANA time zone of the timestamps. */
  readonly timeZone: string;
  /**
   * One JSON object a line, or one sentence a line for a person at a terminal, or the same for the
   * journal, which has the time itself and wants the priority.
   */
  readonly format: "json" | "text" | "journal";
  readonly redactor: Redactor;
  /** Receives each finished line, with its line break. */
  readonly write: (line: string) => void;
}

/**
 * Sets the logging library up and returns the log. Call it once a process: the library is configured
 * for the whole process, and a second call replaces what the first one set up.
 */
export function createLog(options: LogOptions): Log {
  const formatInstant = createTimeFormat(options.timeZone);
  const sink: Sink = (record) => {
    const time = formatInstant(new Date(record.timestamp));
    options.write(formatLine(record, time, options));
  };
  configureSync({
    reset: true,
    sinks: { out: sink },
    loggers: [
      { category: LOGGER, sinks: ["out"], lowestLevel: libraryLevel(options.level) },
      { category: ["logtape", "meta"], sinks: ["out"], lowestLevel: "error" },
    ],
  });
  return new WrittenLog({}, options.level);
}

/** One for all lines that share their fixed fields; made for every request, so it holds no closures. */
class WrittenLog implements Log {
  readonly #fixed: LogFields;
  readonly #lowest: LogLevel;

  constructor(fixed: LogFields, lowest: LogLevel) {
    this.#fixed = fixed;
    this.#lowest = lowest;
  }

  debug(message: string, fields?: LogFields | (() => LogFields)): void {
    if (this.#lowest !== "debug") return;
    this.#write("debug", message, typeof fields === "function" ? fields() : fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write("info", message, fields);
  }

  warning(message: string, fields?: LogFields): void {
    this.#write("warning", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write("error", message, fields);
  }

  critical(message: string, fields?: LogFields): void {
    this.#write("fatal", message, fields);
  }

  with(fields: LogFields): Log {
    return new WrittenLog({ ...this.#fixed, ...fields }, this.#lowest);
  }

  #write(
    level: "debug" | "info" | "warning" | "error" | "fatal",
    message: string,
    fields: LogFields | undefined,
  ): void {
    // The library expands {placeholders} in messages; ours are finished text.
    const text = message.includes("{") || message.includes("}")
      ? message.replaceAll("{", "{{").replaceAll("}", "}}")
      : message;
    getLogger(LOGGER)[level](text, { ...this.#fixed, ...fields });
  }
}

const LOGGER = ["stackwright"];

function libraryLevel(level: LogLevel): LibraryLevel {
  return level === "warn" ? "warning" : level;
}

function formatLine(record: LogRecord, time: string, options: LogOptions): string {
  const level = record.level === "fatal" ? "critical" : record.level;
  const about = aboutOf(record.properties);
  const redact = (text: string) => options.redactor.redact(text, about);
  const message = redact(record.message.join(""));
  const fields = redactTexts(
    Object.fromEntries(
      Object.entries(record.properties).map(([name, value]) => [name, printable(value)]),
    ),
    redact,
  );
  if (options.format === "json") {
    return JSON.stringify({ time, level, msg: message, ...fields }) + "\n";
  }
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`
    );
  const said = visible(`${message}${rest.join("")}`);
  if (options.format === "journal") {
    const priority = `<${PRIORITIES[level]}>`;
    return `${priority}${said}`.replaceAll("\n", `\n${priority}`) + "\n";
  }
  return `${time.slice(11, 19)} ${level.padEnd(8)} ${said}\n`;
}

/** The stack that a line is about; with half of its name anything may be in the line. */
function aboutOf({ context, stack: name }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof name !== "string") return NO_STACK;
  return typeof context === "string" ? stackAsOwner({ context, name }) : undefined;
}

/** Priorities of syslog(3) for our levels. */
const PRIORITIES: Readonly<Record<string, number>> = {
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
