import { ContextLines } from "./context_lines.ts";
import { createTimeFormat } from "./time_format.ts";
import { formatLine, type LineLevel } from "./log_line.ts";
import type { LogLevel, LogOptions } from "./log_options.ts";

/**
 * Fields of a line besides its text. The names in use are `job_id`, `repository`, `target`,
 * `stack`, `reference`, `revision`, `context`, `stage`, `component`, `error`, and `trace` for where an
 * error comes from: `stack` is the name of a stack, whose secrets are masked in the line.
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

/** A log that writes lines of `options.level` and above, within the limits of {@link ContextLines}. */
export function createLog(options: LogOptions): Log {
  const formatInstant = createTimeFormat(options.timeZone);
  const lines = new ContextLines((said, most) => {
    const line = formatLine(said, { time: formatInstant(new Date()), most }, options);
    options.write(line);
    return line.length;
  });
  const write = (level: LineLevel, message: string, fields: LogFields) => {
    try {
      lines.write({ level, message, fields }, Date.now());
    } catch {
      // A failed write loses the line, but must not stop the work.
    }
  };
  return new WrittenLog({}, LEVELS.indexOf(options.level), write);
}

/** The levels that can be left out, the least first. */
const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** One for all lines that share their fixed fields; made for every request, so it holds no closures. */
class WrittenLog implements Log {
  readonly #fixed: LogFields;
  /** Place of the lowest level that is written. */
  readonly #lowest: number;
  readonly #write: (level: LineLevel, message: string, fields: LogFields) => void;

  constructor(
    fixed: LogFields,
    lowest: number,
    write: (level: LineLevel, message: string, fields: LogFields) => void,
  ) {
    this.#fixed = fixed;
    this.#lowest = lowest;
    this.#write = write;
  }

  debug(message: string, fields?: LogFields | (() => LogFields)): void {
    if (this.#lowest > 0) return;
    const shown = typeof fields === "function" ? fields() : fields;
    this.#write("debug", message, { ...this.#fixed, ...shown });
  }

  info(message: string, fields?: LogFields): void {
    if (this.#lowest <= 1) this.#write("info", message, { ...this.#fixed, ...fields });
  }

  warning(message: string, fields?: LogFields): void {
    if (this.#lowest <= 2) this.#write("warning", message, { ...this.#fixed, ...fields });
  }

  error(message: string, fields?: LogFields): void {
    this.#write("error", message, { ...this.#fixed, ...fields });
  }

  critical(message: string, fields?: LogFields): void {
    this.#write("critical", message, { ...this.#fixed, ...fields });
  }

  with(fields: LogFields): Log {
    return new WrittenLog({ ...this.#fixed, ...fields }, this.#lowest, this.#write);
  }
}
