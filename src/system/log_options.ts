import type { Redactor } from "./redactor.ts";

/** Levels of `LOG_LEVEL`. `critical` lines precede an exit and always show. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Options of how lines are written. */
export interface LogOptions {
  readonly level: LogLevel;
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
