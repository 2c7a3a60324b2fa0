import type { ChildProcess } from "node:child_process";
import { type Command, LONGEST_SAID } from "./command.ts";
import { growsTooMuch, printsTooMuch, timedOut, tookTooMuch } from "./command_errors.ts";
import { watchGrowth } from "./growth_watch.ts";
import { watchMemory } from "./memory_watch.ts";
import { clip, utf8 } from "../model/mod.ts";

/**
 * Calls `stop` with the reason when a program takes too much time, memory or disk, or the signal aborts. The
 * function that is returned ends the watching. `isAtRest` tells whether the program has nothing to do.
 */
export function boundProgram(
  { pid }: ChildProcess,
  command: Command,
  stop: (reason: unknown) => void,
  signal: AbortSignal,
  isAtRest?: () => boolean,
): () => void {
  const { timeoutMs, mostMemory, sharedMemory, mostGrowth } = command;
  const onAbort = () => stop(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const onTime = () => stop(timedOut(command));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTime, timeoutMs);
  const unwatch = (mostMemory ?? sharedMemory) === undefined || pid === undefined
    ? undefined
    : watchMemory(pid, { ...command, isAtRest }, () => stop(tookTooMuch(command)));
  const unwatchGrowth = mostGrowth && watchGrowth(mostGrowth, () => stop(growsTooMuch(command)));
  return () => {
    unwatch?.();
    unwatchGrowth?.();
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
}

/**
 * Last bytes of standard error that are kept beside its beginning, where no number is given. Programs pass
 * on what a server says as its progress: dozens of them would keep gigabytes that nobody reads. As many as
 * {@link LONGEST_SAID} characters have at most.
 */
const MOST_SAID = 3 * LONGEST_SAID;

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
  const collect = (stream: ChildProcess["stdout"], kept: LastBytes) => {
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
  const { keptBytes } = command;
  const stdout = collect(child.stdout, new LastBytes(keptBytes ?? Number.POSITIVE_INFINITY));
  const said = keptBytes === undefined ? new LastBytes(MOST_SAID, 1) : new LastBytes(keptBytes);
  const stderr = collect(child.stderr, said);
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
      // One character more than is told, so that what comes after the cut does not look like its rest.
      rest = (lines.pop() ?? "").slice(0, LONGEST_LINE + 1);
      for (const line of lines) onLine(clip(line, LONGEST_LINE));
    },
    end() {
      if (rest !== "") onLine(clip(rest, LONGEST_LINE));
    },
  };
}

const NEWLINE = 10;

/** Bytes of a piece that small chunks are put together in. */
const PIECE = 16 * 1024;

/**
 * The end of what a program printed, and as many pieces of its beginning as are wanted. Chunks are copied into pieces: whoever decides what a program
 * prints, and when, may have it come byte by byte, and kept alone each byte takes hundreds.
 */
class LastBytes {
  readonly #most: number;
  readonly #first: number;
  readonly #pieces: { readonly bytes: Uint8Array; used: number }[] = [];
  #length = 0;
  /** Where a piece was taken out, in bytes that are kept. */
  #cutAt: number | undefined;

  /** `most` are the bytes of the end that are kept at least, `first` the pieces of the beginning. */
  constructor(most: number, first = 0) {
    this.#most = most;
    this.#first = first;
  }

  push(chunk: Uint8Array): void {
    let last = this.#pieces.at(-1);
    if (last === undefined || last.bytes.length - last.used < chunk.length) {
      last = { bytes: new Uint8Array(Math.max(PIECE, chunk.length)), used: 0 };
      this.#pieces.push(last);
    }
    last.bytes.set(chunk, last.used);
    last.used += chunk.length;
    this.#length += chunk.length;
    const beginning = this.#pieces.slice(0, this.#first).reduce((sum, { used }) => sum + used, 0);
    let next = this.#pieces[this.#first];
    while (next !== undefined && this.#length - beginning - next.used >= this.#most) {
      this.#pieces.splice(this.#first, 1);
      this.#cutAt = beginning;
      this.#length -= next.used;
      next = this.#pieces[this.#first];
    }
  }

  /** What is kept, in one piece; at a cut in whole lines, as nothing masks the rest of a secret. */
  whole(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const { bytes, used } of this.#pieces) {
      whole.set(bytes.subarray(0, used), offset);
      offset += used;
    }
    if (this.#cutAt === undefined) return whole;
    const begins = whole.indexOf(NEWLINE, this.#cutAt) + 1 || whole.length;
    const ends = this.#cutAt === 0 ? 0 : whole.lastIndexOf(NEWLINE, this.#cutAt - 1) + 1;
    return whole.copyWithin(ends, begins).subarray(0, ends + whole.length - begins);
  }
}
