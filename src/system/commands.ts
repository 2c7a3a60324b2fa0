import { constants } from "node:os";
import type { StackwrightError } from "../model/mod.ts";
import type { Command, CommandResult, Commands, RunningCommand } from "./command.ts";
import { notStarted } from "./command_errors.ts";
import {
  killGroup,
  killProgram,
  launch,
  needsSetsid,
  watch,
  whyNotStarted,
} from "./process_group.ts";
import { boundProgram, collectOutput } from "./command_bounds.ts";

/** Runs real programs, each in a process group of its own so that its children end with it. */
export const systemCommands: Commands = { run: runCommand, start: startCommand };

/** Time for which output is still read when the program has ended, in milliseconds. */
const DRAIN_MS = 2000;

/** Characters that are kept of what a program says that is talked to. */
const LAST_WORDS = 4096;

function runCommand(command: Command, signal: AbortSignal): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const bySetsid = needsSetsid();
    const child = launch(command, bySetsid);
    const watcher = command.endsWithUs === true && child.pid !== undefined
      ? watch(child.pid, bySetsid)
      : undefined;
    let stopped: unknown;
    const stop = (reason: unknown) => {
      stopped ??= reason;
      killProgram(child);
    };
    const unbound = boundProgram(child, command, stop, signal);
    const printed = collectOutput(child, command, stop);
    let drain: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      unbound();
      clearTimeout(drain);
    };
    child.on("error", (error) => {
      settle();
      reject(notStarted(command, error));
    });
    // A child in another process group may hold the output open for ever.
    child.on("exit", () => {
      watcher?.dismiss();
      // The watcher is gone, so nothing else would end children left in the group.
      if (watcher !== undefined) killGroup(child.pid);
      drain = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
    });
    child.on("close", (code, killedBy) => {
      settle();
      const { stdout, stderr } = printed();
      if (stopped !== undefined) return reject(stopped);
      const unstarted = whyNotStarted(code, stderr);
      if (unstarted !== undefined) return reject(notStarted(command, unstarted));
      resolve({
        code: code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]),
        stdout,
        stderr,
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
  const child = launch({ ...command, stdin: "" }, needsSetsid());
  let stopped: unknown;
  const stop = (reason: unknown) => {
    stopped ??= reason;
    killProgram(child);
  };
  let isAtRest = false;
  const rests = () => isAtRest;
  const unbound = boundProgram(child, command, stop, new AbortController().signal, rests);
  let closed = false;
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const gone = new Promise<void>((resolve) => {
    child.on("exit", () => resolve(unbound()));
    child.on("error", unbound);
  });
  let said = "";
  child.stderr?.on("data", (chunk) => said = (said + chunk).slice(-LAST_WORDS));
  child.stdin?.on("error", () => {});
  const failed = new Promise<StackwrightError>((resolve) => {
    child.on("error", (error) => resolve(notStarted(command, error)));
  });
  async function* output(): AsyncGenerator<Uint8Array> {
    if (child.stdout === null) return;
    try {
      for await (const chunk of child.stdout) yield chunk as Uint8Array;
    } catch (error) {
      if (closed) return;
      // A program that never started has streams too, which may end before its error event.
      throw child.pid === undefined ? await failed : error;
    }
    if (child.pid === undefined) throw await failed;
    if (closed) return;
    const unstarted = whyNotStarted(await ended, said);
    if (stopped !== undefined) throw stopped;
    if (unstarted !== undefined) throw notStarted(command, unstarted);
  }
  return {
    write: (text) => {
      isAtRest = false;
      child.stdin?.write(text);
    },
    rest: () => void (isAtRest = true),
    output: output(),
    lastWords: () => said,
    close: async () => {
      closed = true;
      child.stdin?.end();
      killProgram(child);
      if (child.pid === undefined) return;
      // Not until its streams end: they never do while nobody reads what it printed last.
      await gone;
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
  };
}
