import { formatLine } from "../../src/system/log_line.ts";
import type { Log, LogFields, Redactor } from "../../src/system/mod.ts";

/** One line that was logged. */
export interface LoggedLine {
  readonly level: "debug" | "info" | "warning" | "error" | "critical";
  readonly message: string;
  readonly fields: LogFields;
}

/** A log that keeps its lines for a test to look at, or to throw away. */
export interface RecordingLog extends Log {
  readonly lines: readonly LoggedLine[];
  clear(): void;
}

/** Lines as a log would have written them: what is recorded did not pass the redactor. */
export function writtenLines(lines: readonly LoggedLine[], redactor: Redactor): string[] {
  const options = { level: "debug", timeZone: "UTC", format: "json", redactor } as const;
  return lines.map((line) =>
    formatLine(line, { time: "", most: Infinity }, { ...options, write: () => {} })
  );
}

/** A log without lines. */
export function createRecordingLog(): RecordingLog {
  const lines: LoggedLine[] = [];
  const make = (fixed: LogFields): Log => {
    const line = (level: LoggedLine["level"]) => (message: string, fields?: LogFields) => {
      lines.push({ level, message, fields: { ...fixed, ...fields } });
    };
    return {
      debug: (message, fields) =>
        line("debug")(message, typeof fields === "function" ? fields() : fields),
      info: line("info"),
      warning: line("warning"),
      error: line("error"),
      critical: line("critical"),
      with: (fields) => make({ ...fixed, ...fields }),
    };
  };
  return { ...make({}), lines, clear: () => void lines.splice(0) };
}
