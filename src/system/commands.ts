import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { messageOf, StackwrightError } from "../model/mod.ts";
import { limited, type Limits, PRLIMIT } from "./limits.ts";
import { watchMemory } from "./memory_watch.ts";

/** One program to run. Arguments are never seen by a shell. */
export interface Command extends Limits {
  /** Program and arguments. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  /** The whole environment of the program; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
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
   * Most bytes of standard output and error together; then the whole process group is killed. All of it
   * is kept in memory, so whoever decides what a program prints decides how much we need.
   */
  readonly mostBytes?: number;
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
  /** Chunks of standard output, in order; ends when the program does. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Ends the program; resolves when it is gone. May be called twice. */
  close(): Promise<void>;
}

/** Runs programs. */
export interface Commands {
  /**
   * Runs a program to its end; a non-zero exit code is a result, not an error.
   *
   * Throws `command_failed` when it cannot be started, `payload_too_large` when it prints too much, `timeout` when it took too
   * long, and the signal's reason when it was aborted; unless it did not start, its process group has
   * been killed then.
   */
  run(command: Command, signal: AbortSignal): Promise<CommandResult>;
  /** Starts a program that is talked to while it runs. Throws `command_failed` on first use if it cannot start. */
  start(command: Command): RunningCommand;
}

/** Runs real programs, each in a process group of its own so that its children end with it. */
export const systemCommands: Commands = { run: runCommand, start: startCommand };

/** How long output is still read when the program has ended, in milliseconds. */
const DRAIN_MS = 2000;

function runCommand(command: Command, signal: AbortSignal): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const bySetsid = existsSync(SETSID);
    const child = launch(command, bySetsid);
    const watcher = command.endsWithUs === true && child.pid !== undefined
      ? watch(child.pid, bySetsid)
      : undefined;
    const stdout: Uint8Array[] = [];
    const stderr: Uint8Array[] = [];
    const lines = command.onLine === undefined ? undefined : {
      out: lineSplitter(command.onLine),
      err: lineSplitter(command.onLine),
    };
    let stopped: unknown;
    const stop = (reason: unknown) => {
      stopped ??= reason;
      // A group that is not there yet is one that `setsid` is about to make.
      if (!killGroup(child.pid)) child.kill("SIGKILL");
    };
    const onAbort = () => stop(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = command.timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop(timedOut(command)), command.timeoutMs);
    const { mostMemory } = command;
    const unwatch = mostMemory === undefined || child.pid === undefined || existsSync(PRLIMIT)
      ? undefined
      : watchMemory(child.pid, mostMemory, () => stop(tookTooMuch(command)));
    let drain: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      unwatch?.();
      clearTimeout(timer);
      clearTimeout(drain);
      signal.removeEventListener("abort", onAbort);
    };
    let room = command.mostBytes ?? Number.POSITIVE_INFINITY;
    const keep = (chunks: Uint8Array[], chunk: Uint8Array) => {
      room -= chunk.length;
      if (room < 0) stop(printsTooMuch(command));
      else chunks.push(chunk);
    };
    child.stdout?.on("data", (chunk: Uint8Array) => {
      keep(stdout, chunk);
      lines?.out.push(chunk);
    });
    child.stderr?.on("data", (chunk: Uint8Array) => {
      keep(stderr, chunk);
      lines?.err.push(chunk);
    });
    child.on("error", (error) => {
      settle();
      reject(notStarted(command, error));
    });
    // What it left behind in a process group of its own may hold its output open for ever.
    child.on("exit", () => {
      watcher?.dismiss();
      // Nobody would end what it left behind in its group.
      if (watcher !== undefined) killGroup(child.pid);
      drain = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
    });
    child.on("close", (code, killedBy) => {
      settle();
      lines?.out.end();
      lines?.err.end();
      if (stopped !== undefined) return reject(stopped);
      const said = new TextDecoder().decode(concat(stderr));
      const unstarted = bySetsid ? whyNotStarted(code, said) : undefined;
      if (unstarted !== undefined) return reject(notStarted(command, unstarted));
      resolve({
        code: code ?? 128 + signalNumber(killedBy),
        stdout: concat(stdout),
        stderr: said,
      });
    });
    // A program may end without reading its input; that is its decision, not our failure.
    child.stdin?.on("error", () => {});
    const feed = () => command.stdin !== undefined && child.stdin?.end(command.stdin);
    if (watcher === undefined) feed();
    else watcher.ready.then(feed, (error) => stop(notStarted(command, error)));
  });
}

function startCommand(command: Command): RunningCommand {
  const child = launch({ ...command, stdin: "" }, false);
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  child.stderr?.resume();
  child.stdin?.on("error", () => {});
  const failed = new Promise<StackwrightError>((resolve) => {
    child.on("error", (error) => resolve(notStarted(command, error)));
  });
  async function* output(): AsyncGenerator<Uint8Array> {
    if (child.stdout === null) return;
    try {
      for await (const chunk of child.stdout) yield chunk as Uint8Array;
    } catch (error) {
      // What never started has streams too; they end early, before or after its own error.
      throw child.pid === undefined ? await failed : error;
    }
    if (child.pid === undefined) throw await failed;
  }
  return {
    write: (text) => void child.stdin?.write(text),
    output: output(),
    close: async () => {
      child.stdin?.end();
      killGroup(child.pid);
      if (child.pid !== undefined) await ended;
    },
  };
}

/**
 * Where `setsid` is found whatever a program's own `PATH` is. To have the runtime make the process group
 * copies this process first, which at 200 MB takes ten times as long as starting `setsid`.
 */
const SETSID = "/usr/bin/setsid";

function launch(command: Command, bySetsid: boolean) {
  const { argv, cwd, env, stdin } = command;
  const bounded = limited(argv, command, existsSync(PRLIMIT));
  const [program, ...args] = bySetsid ? [SETSID, ...bounded] as const : bounded;
  return spawn(program, args, {
    cwd,
    env: { ...env },
    detached: !bySetsid,
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
}

/**
 * Says that it is there, then waits for a line, which dismisses it; when its input ends without one,
 * this process is dead, and it kills the process group whose id it was given, or the one process that
 * has not made its group yet. A signal to the group of this process must not take it along.
 */
const WATCHER =
  'trap \'\' HUP INT QUIT TERM; echo; read -r _ || kill -KILL "-$1" || kill -KILL "$1"';

/**
 * Has a process group killed when this process dies. The shell that does it stands beside the program:
 * it gets nothing of the program's, neither variables nor arguments.
 */
function watch(group: number, bySetsid: boolean) {
  const child = launch(
    { argv: ["/bin/sh", "-c", WATCHER, "sh", String(group)], env: {}, stdin: "" },
    bySetsid,
  );
  child.stderr?.resume();
  child.stdin?.on("error", () => {});
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.on("error", reject);
    child.on("exit", () => reject(new Error("what ends it with this process did not start")));
  });
  // Who is dismissed early is waited for by nobody.
  ready.catch(() => {});
  return { ready, dismiss: () => void child.stdin?.end("\n") };
}

/** Kills a process group; false when there is none, or none any more. */
function killGroup(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, "SIGKILL");
    return true;
  } catch {
    // ESRCH: it ended by itself between our decision and the kill.
    return false;
  }
}

/**
 * Why `setsid`, of util-linux or of BusyBox, or `prlimit` could not start the program, in the words of
 * the system; `undefined` where the program itself ended like that.
 */
function whyNotStarted(code: number | null, stderr: string): string | undefined {
  if (code !== 126 && code !== 127) return undefined;
  return /^(?:setsid|prlimit): (?:failed to|can't) execute .*: (.+)/.exec(stderr)?.[1];
}

function notStarted(command: Command, cause: unknown): StackwrightError {
  const program = command.argv[0];
  const isTooLong = (cause as { readonly code?: unknown } | undefined)?.code === "E2BIG" ||
    /argument list too long/i.test(messageOf(cause));
  const advice = isTooLong
    ? "its arguments and variables are longer than the system takes"
    : "is it installed and on PATH?";
  return new StackwrightError(
    "command_failed",
    `could not start ${program}: ${messageOf(cause)}; ${advice}`,
    { cause },
  );
}

function timedOut(command: Command): StackwrightError {
  const what = command.argv.slice(0, 3).join(" ");
  return new StackwrightError("timeout", `${what} did not end within ${command.timeoutMs} ms`);
}

function printsTooMuch({ argv, mostBytes }: Command): StackwrightError {
  const what = argv.slice(0, 3).join(" ");
  return new StackwrightError(
    "payload_too_large",
    `${what} was ended: it printed more than ${mostBytes} bytes; make what it was given smaller`,
  );
}

function tookTooMuch({ argv, mostMemory }: Command): StackwrightError {
  const what = argv.slice(0, 3).join(" ");
  return new StackwrightError(
    "payload_too_large",
    `${what} was ended: it took more than ${mostMemory} bytes of memory; make what it was given smaller`,
  );
}

function lineSplitter(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  return {
    push(chunk: Uint8Array) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = lines.pop() ?? "";
      lines.forEach(onLine);
    },
    end() {
      if (rest !== "") onLine(rest);
    },
  };
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
