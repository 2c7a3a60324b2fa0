import type { Growth } from "./growth_watch.ts";
import type { Limits } from "./limits.ts";
import type { MemoryShare } from "./memory_watch.ts";

/** Characters of standard error that are kept of any program, counted from its end. */
export const LONGEST_SAID: number = 256 * 1024;

/** One program to run. Arguments are never seen by a shell. */
export interface Command extends Limits {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  /** The whole environment of the program; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Paths of files and directories that the program may read, beside itself and libraries; it may write
   * nothing, and start no other program. Only executables see to it, and only where the kernel can.
   */
  readonly mayRead?: readonly string[];
  /** Program and arguments that bound themselves and become the program; see `confiningCommands`. */
  readonly startedBy?: readonly [string, ...string[]];
  /** Written to standard input, which is then closed; without it the program reads nothing. */
  readonly stdin?: string | Uint8Array;
  /** Receives each line of standard output and error as it appears, without its line break. */
  readonly onLine?: (line: string) => void;
  /**
   * Whether the program is killed when this process dies, however it dies: for programs that change
   * something, which the next start would otherwise find still at work. It gets its standard input only
   * when this is sure, so a program that waits for its input does nothing before.
   */
  readonly endsWithUs?: boolean;
  /** Longest time in milliseconds; then the whole process group is killed. */
  readonly timeoutMs?: number;
  /**
   * Most bytes of standard output and error together; then the whole process group is killed. All of the
   * output is kept in memory, so the author of a program's input could exhaust ours.
   */
  readonly mostBytes?: number;
  /**
   * Number of last bytes of standard output, and of standard error, that are kept, without the line that
   * is cut there: for programs that may print without end. Absent to keep all of standard output, and of
   * standard error the beginning and at least the last {@link LONGEST_SAID} characters.
   */
  readonly keptBytes?: number;
  /** Memory that the program and others have together; one of those with the most is ended where it is too much. */
  readonly sharedMemory?: MemoryShare;
  /** Most bytes that the program may write into a directory; then its process group is killed. */
  readonly mostGrowth?: Growth;
}

/** The end of a program. */
export interface CommandResult {
  /** Exit code; 128 + signal number when a signal ended it. */
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** A program that keeps running and is talked to line by line or in chunks. */
export interface RunningCommand {
  write(text: string): void;
  /** Says that it has answered all that was written: until more is, its memory is not looked at. */
  rest(): void;
  /** Chunks of standard output, in order; ends when the program does, or where it is closed. */
  readonly output: AsyncIterable<Uint8Array>;
  /** The last of what it said on standard error, all of it once `output` has ended. */
  lastWords(): string;
  /** Ends the program, whatever it printed that nobody read; resolves when it is gone. May be called twice. */
  close(): Promise<void>;
}

/** Whether the kernel confines a program: the version of Landlock that does, or why none does. */
export type Confinement = { readonly abi: number } | { readonly why: string };

/** Runs programs. */
export interface Commands {
  /** Tells whether `run` confines a program that says what it may read; absent where it never does. */
  confinement?(program: string): Promise<Confinement>;
  /**
   * Runs a program to its end; a non-zero exit code is a result, not an error.
   *
   * Throws `command_failed` when it cannot be started, `payload_too_large` when it prints or writes too much, `timeout` when it took too
   * long, and the signal's reason when it was aborted; unless it did not start, its process group has
   * been killed then.
   */
  run(command: Command, signal: AbortSignal): Promise<CommandResult>;
  /**
   * Starts a program that is talked to while it runs. Reading its output throws `command_failed` when it
   * could not start, and `payload_too_large` when it took too much memory.
   */
  start(command: Command): RunningCommand;
}
