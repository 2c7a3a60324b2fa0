import {
  configureSync,
  getLogger,
  type LogLevel as LibraryLevel,
  type LogRecord,
  type Sink,
} from "@logtape/logtape";
import process from "node:process";
import { messageOf, StackwrightError } from "../model/mod.ts";
import { type Redactor, redactTexts } from "./redactor.ts";

/** Levels of `LOG_LEVEL` (operations.md §1.6). `critical` lines precede an exit and always show. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * What a line says besides its text. The names in use are `job_id`, `repository`, `target`, `stack`,
 * `reference`, `revision`, `context`, `stage`, `component`, `error`.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where diagnostics go. Calls never throw and never wait. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** For the last line before the process gives up. */
  critical(message: string, fields?: LogFields): void;
  /** The same log with `fields` on every line; later values win. */
  with(fields: LogFields): Log;
}

/** How lines are written. */
export interface LogOptions {
  readonly level: LogLevel;
  /** IANA time zone of the timestamps. */
  readonly timeZone: string;
  /** One JSON object a line, or one sentence a line for a person at a terminal. */
  readonly format: "json" | "text";
  readonly redactor: Redactor;
  /** Receives each finished line, with its line break. */
  readonly write: (line: string) => void;
}

/** Writes a line to standard error. */
export function writeStandardError(line: string): void {
  process.stderr.write(line);
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
      { category: ["stackwright"], sinks: ["out"], lowestLevel: libraryLevel(options.level) },
      { category: ["logtape", "meta"], sinks: ["out"], lowestLevel: "error" },
    ],
  });
  return wrap({});
}

function wrap(fixed: LogFields): Log {
  const logger = getLogger(["stackwright"]);
  const line =
    (level: "debug" | "info" | "warning" | "error" | "fatal") =>
    (message: string, fields?: LogFields) => {
      // The library expands {placeholders} in messages; ours are finished text.
      logger[level](message.replaceAll("{", "{{").replaceAll("}", "}}"), { ...fixed, ...fields });
    };
  return {
    debug: line("debug"),
    info: line("info"),
    warning: line("warning"),
    error: line("error"),
    critical: line("fatal"),
    with: (fields) => wrap({ ...fixed, ...fields }),
  };
}

function libraryLevel(level: LogLevel): LibraryLevel {
  return level === "warn" ? "warning" : level;
}

function formatLine(record: LogRecord, time: string, options: LogOptions): string {
  const level = record.level === "fatal" ? "critical" : record.level;
  const redact = (text: string) => options.redactor.redact(text);
  const message = redact(record.message.map(String).join(""));
  const fields = Object.fromEntries(
    Object.entries(record.properties).map(([name, value]) => [
      name,
      redactTexts(printable(value), redact),
    ]),
  );
  if (options.format === "json") {
    return JSON.stringify({ time, level, msg: message, ...fields }) + "\n";
  }
  const rest = Object.entries(fields).filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`
    );
  return `${time.slice(11, 19)} ${level.padEnd(8)} ${message}${rest.join("")}\n`;
}

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

/**
 * An instant as ISO 8601 with milliseconds and UTC offset in an IANA zone:
 * `2026-03-10T12:00:00.123+01:00` (interface.md §2.11). For many instants of one zone take
 * {@link createTimeFormat}, which is a hundred times faster.
 */
export function formatTime(instant: Date, timeZone: string): string {
  return createTimeFormat(timeZone)(instant);
}

/** A function that prints instants as {@link formatTime} does, for one zone. */
export function createTimeFormat(timeZone: string): (instant: Date) => string {
  // Making one takes longer than anything else that is done for a line of the log.
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "longOffset",
  });
  return (instant) => printTime(format.formatToParts(instant), instant);
}

function printTime(parts: readonly Intl.DateTimeFormatPart[], instant: Date): string {
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((each) => each.type === type)?.value ?? "";
  const milliseconds = String(instant.getMilliseconds()).padStart(3, "0");
  const offset = part("timeZoneName").replace(/^GMT$/, "GMT+00:00").slice(3);
  const day = `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}`;
  return `${day}T${part("hour")}:${part("minute")}:${part("second")}.${milliseconds}${offset}`;
}
