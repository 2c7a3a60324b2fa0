import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { Command } from "./command.ts";
import { printsTooMuch, timedOut, tookTooMuch } from "./command_errors.ts";
import { LastBytes } from "./last_bytes.ts";
import { lineSplitter } from "./line_splitter.ts";
import { PRLIMIT } from "./limits.ts";
import { watchMemory } from "./memory_watch.ts";

/**
 * Calls `stop` with the reason when a program takes too much time or memory, or the signal aborts. The
 * function that is returned ends the watching.
 */
export function boundProgram(
  { pid }: ChildProcess,
  command: Command,
  stop: (reason: unknown) => void,
  signal: AbortSignal,
): () => void {
  const { timeoutMs, mostMemory } = command;
  const onAbort = () => stop(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = timeoutMs === undefined
    ? undefined
    : setTimeout(() => stop(timedOut(command)), timeoutMs);
  const unwatch = mostMemory === undefined || pid === undefined || existsSync(PRLIMIT)
    ? undefined
    : watchMemory(pid, mostMemory, () => stop(tookTooMuch(command)));
  return () => {
    unwatch?.();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
}

/** All that a program printed. */
export interface PrintedOutput {
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/**
 * Collects what a program prints and tells its lines; `stop` is called when it is too much. The
 * function that is returned is called when the program has ended.
 */
export function collectOutput(
  child: ChildProcess,
  command: Command,
  stop: (reason: unknown) => void,
): () => PrintedOutput {
  let room = command.mostBytes ?? Number.POSITIVE_INFINITY;
  const collect = (stream: ChildProcess["stdout"]) => {
    const kept = new LastBytes(command.keptBytes ?? Number.POSITIVE_INFINITY);
    const lines = command.onLine === undefined ? undefined : lineSplitter(command.onLine);
    stream?.on("data", (chunk: Uint8Array) => {
      room -= chunk.length;
      if (room < 0) stop(printsTooMuch(command));
      else kept.push(chunk);
      lines?.push(chunk);
    });
    return () => {
      lines?.end();
      return kept.whole();
    };
  };
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  return () => ({ stdout: stdout(), stderr: new TextDecoder().decode(stderr()) });
}
