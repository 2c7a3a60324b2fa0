import { StackwrightError } from "../model/mod.ts";

/** A piece of output and where it was written to. */
interface LogChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

/** Most characters of a log that are kept: the newest lines win. */
export const LOG_LIMIT = 1 << 20;

const HEADER_LENGTH = 8;
/** The engine cuts entries at 16 KiB; a frame far beyond that means the stream is not framed. */
const LONGEST_FRAME = 16 << 20;

/**
 * Splits the engine's multiplexed stream into its frames: one byte of stream number, three zeros,
 * four of length, then the bytes. Frames may arrive cut anywhere. A last, incomplete frame (the
 * engine went away) is dropped.
 *
 * Throws `engine_refused` when the bytes are no such stream.
 */
export async function* demultiplex(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  let pending: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    pending = pending.length === 0 ? chunk : join(pending, chunk);
    while (pending.length >= HEADER_LENGTH) {
      const { stream, length } = readHeader(pending);
      if (pending.length < HEADER_LENGTH + length) break;
      yield { stream, bytes: pending.subarray(HEADER_LENGTH, HEADER_LENGTH + length) };
      pending = pending.subarray(HEADER_LENGTH + length);
    }
  }
}

/** Everything a terminal printed, as one stream: output of containers with a TTY is not framed. */
export async function* singleStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  for await (const bytes of chunks) yield { stream: "stdout", bytes };
}

/**
 * The lines of a log in the order in which they ended, the last {@link LOG_LIMIT} characters of
 * them. Lines of the two streams do not run into each other; carriage returns at line ends go.
 */
export async function collectLines(chunks: AsyncIterable<LogChunk>): Promise<string[]> {
  const window = new LineWindow();
  const streams = { stdout: new LineSplitter(window), stderr: new LineSplitter(window) };
  for await (const chunk of chunks) streams[chunk.stream].push(chunk.bytes);
  streams.stdout.end();
  streams.stderr.end();
  return window.lines;
}

class LineWindow {
  readonly lines: string[] = [];
  #size = 0;

  add(line: string): void {
    this.lines.push(line);
    this.#size += line.length;
    while (this.#size > LOG_LIMIT) this.#size -= this.lines.shift()?.length ?? this.#size;
  }
}

class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #window: LineWindow;
  #rest = "";

  constructor(window: LineWindow) {
    this.#window = window;
  }

  push(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    // The tail of a line without end is kept, so that a program that never breaks lines costs no more.
    this.#rest = (lines.pop() ?? "").slice(-LOG_LIMIT);
    for (const line of lines) this.#window.add(line.replace(/\r$/, ""));
  }

  end(): void {
    const last = (this.#rest + this.#decoder.decode()).replace(/\r$/, "");
    if (last !== "") this.#window.add(last);
  }
}

function readHeader(bytes: Uint8Array): { stream: LogChunk["stream"]; length: number } {
  const length = new DataView(bytes.buffer, bytes.byteOffset, HEADER_LENGTH).getUint32(4);
  const type = bytes[0] ?? 255;
  if (type > 2 || bytes[1] !== 0 || bytes[2] !== 0 || bytes[3] !== 0 || length > LONGEST_FRAME) {
    throw new StackwrightError("engine_refused", "the engine sent a log that is not framed");
  }
  return { stream: type === 2 ? "stderr" : "stdout", length };
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
