import type { Clock, Commands, Redactor } from "../system/mod.ts";

/** Ports of a command: its words, its surroundings, its system. */
export interface CommandIo {
  /** Arguments after the command's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Results: standard output. `about` is the owner that the text is about, see {@link Redactor}. */
  out(text: string, about?: string): void;
  /** Complaints and diagnostics: standard error; `about` as for {@link out}. */
  err(text: string, about?: string): void;
  /** Whether a person watches standard error. */
  readonly interactive: boolean;
  /** Whether standard output may have colours; it has none by default. */
  readonly colours?: boolean;
  /** Width of the terminal that standard output is; absent where it is none. */
  readonly columns?: number;
  /** Gets the secrets that the command reads, and masks them in all output. */
  readonly redactor: Redactor;
  /** Time; that of the system by default. */
  readonly clock?: Clock;
  /** See the system's: for clocks that run fast. */
  readonly engineLimitMs?: number;
  /** Runner of git, compose and other programs; the system's by default. */
  readonly commands?: Commands;
  /** Aborts when the command is to stop. */
  readonly signal: AbortSignal;
}

/** One command of the program, loaded. */
export interface Command {
  /** Everything `stackwright <name> --help` prints after the summary. */
  readonly help: string;
  /** Runs the command; returns the exit code. */
  run(io: CommandIo): Promise<number>;
}

/** A command as the list shows it. */
export interface ListedCommand {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  /** Options besides `--json` and `--help`, without dashes, for shells that complete them. */
  readonly options?: readonly string[];
  /** Whether its first operand is a stack. */
  readonly ofStack?: boolean;
  /**
   * Loads its file, and with it whatever it needs: the version, the list of commands and a health
   * check every few seconds must not cost the start of the whole service.
   */
  load(): Promise<Command>;
}

/** Exit codes, as in sysexits.h where it has one. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** `plan` and `diff`: there are changes; `apply`: some were held back. */
  changes: 2,
  usage: 64,
  unavailable: 69,
  configuration: 78,
  interrupted: 130,
} as const;
