import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { StackwrightError } from "../model/mod.ts";
import { PRLIMIT } from "./limits.ts";
import { watchMemory } from "./memory_watch.ts";
import type { Command, CommandResult, Commands, RunningCommand } from "./command.ts";
import { notStarted, printsTooMuch, timedOut, tookTooMuch } from "./command_errors.ts";
import { killGroup, launch, SETSID, watch, whyNotStarted } from "./process_group.ts";
import { lineSplitter } from "./line_splitter.ts";
import { LastBytes } from "./last_bytes.ts";

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
    const { keptBytes = Number.POSITIVE_INFINITY } = command;
    const [stdout, stderr] = [new LastBytes(keptBytes), new LastBytes(keptBytes)];
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
    const keep = (kept: LastBytes, chunk: Uint8Array) => {
      room -= chunk.length;
      if (room < 0) stop(printsTooMuch(command));
      else kept.push(chunk);
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
      const said = new TextDecoder().decode(stderr.whole());
      const unstarted = bySetsid ? whyNotStarted(code, said) : undefined;
      if (unstarted !== undefined) return reject(notStarted(command, unstarted));
      resolve({
        code: code ?? 128 + signalNumber(killedBy),
        stdout: stdout.whole(),
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

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
