import {
  configureSync,
  getLogger,
  type LogLevel as LibraryLevel,
  type Sink,
} from "@logtape/logtape";
import { createTimeFormat } from "./time_format.ts";
import { formatLine } from "./log_line.ts";
import type { LogLevel, LogOptions } from "./log_options.ts";

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
