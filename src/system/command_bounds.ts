import type { ChildProcess } from "node:child_process";
import type { Command } from "./command.ts";
import { growsTooMuch, printsTooMuch, timedOut, tookTooMuch } from "./command_errors.ts";
import { watchGrowth } from "./growth_watch.ts";
import { watchMemory } from "./memory_watch.ts";
import { utf8 } from "../model/mod.ts";

/**
 * Calls `stop` with the reason when a program takes too much time, memory or disk, or the signal aborts. The
 * function that is returned ends the watching.
 */
export function boundProgram(
  { pid }: ChildProcess,
  command: Command,
  stop: (reason: unknown) => void,
  signal: AbortSignal,
): () => void {
  const { timeoutMs, mostMemory, mostGrowth } = command;
  const onAbort = () => stop(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const onTime = () => stop(timedOut(command));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTime, timeoutMs);
  const unwatch = mostMemory === undefined || pid === undefined
    ? undefined
    : watchMemory(pid, mostMemory, () => stop(tookTooMuch(command)));
  const unwatchGrowth = mostGrowth && watchGrowth(mostGrowth, () => stop(growsTooMuch(command)));
  return () => {
    unwatch?.();
    unwatchGrowth?.();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
}

/** All that a program printed. */
interface PrintedOutput {
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
  return () => ({ stdout: stdout(), stderr: utf8(stderr()) });
}

/** Most characters of an unfinished line, which every further chunk scans again. */
const LONGEST_LINE = 64 * 1024;

/** Tells each line of a text that comes in chunks, without its line break. */
function lineSplitter(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  return {
    push(chunk: Uint8Array) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
      rest = (lines.pop() ?? "").slice(0, LONGEST_LINE);
      lines.forEach(onLine);
    },
    end() {
      if (rest !== "") onLine(rest);
    },
  };
}

/** The end of what a program printed. */
class LastBytes {
  readonly #most: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** `most` are the bytes that are kept at least; chunks are kept as a whole. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds what was printed next. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    let first = this.#chunks[0];
    while (first !== undefined && this.#length - first.length >= this.#most) {
      this.#chunks.shift();
      this.#length -= first.length;
      first = this.#chunks[0];
    }
  }

  /** What is kept, in one piece. */
  whole(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    return whole;
  }
}
