import { Buffer } from "node:buffer";
import { errors } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { unhurried } from "./answer.ts";
import type { TransportResponse } from "./transport_messages.ts";

/** A piece of output and where it was written to. */
interface LogChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

/** Most characters of a log that are kept: the newest lines win. */
export const LOG_LIMIT = 1 << 20;

const HEADER_LENGTH = 8;
/** The engine cuts entries at 16 KiB; a frame far beyond that means the stream is not framed. */
const LONGEST_FRAME = 1 << 20;

/**
 * Splits the engine's multiplexed stream into its frames: one byte of stream number, three zeros,
 * four of length, then the bytes. Frames may arrive cut anywhere. A last, incomplete frame (the
 * engine went away) is dropped.
 *
 * Throws `engine_refused` when the bytes are no such stream.
 */
export async function* demultiplex(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  let wanted = HEADER_LENGTH;
  let stream: LogChunk["stream"] | undefined;
  // Joined once: a frame may arrive byte by byte.
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + wanted);
      pieces.push(piece);
      at += piece.length;
      wanted -= piece.length;
      while (wanted === 0) {
        const bytes = Buffer.concat(pieces);
        pieces = [];
        if (stream === undefined) ({ stream, length: wanted } = readHeader(bytes));
        else {
          yield { stream, bytes };
          [stream, wanted] = [undefined, HEADER_LENGTH];
        }
      }
    }
  }
}

/** Bytes of a log that are looked at, of all that the engine sends for so many lines. */
const MOST_LOGGED = 64 << 20;

/** The lines of the log that an answer is; see {@link collectLines}. */
export async function readLog(
  response: TransportResponse,
  { isFramed, clock }: { readonly isFramed: boolean; readonly clock: Clock },
  signal: AbortSignal,
): Promise<string[]> {
  const body = bounded(unhurried(response, clock, signal));
  return await collectLines(isFramed ? demultiplex(body) : singleStream(body));
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MOST_LOGGED) return;
    yield chunk;
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

/** The newest lines, and their characters with one for each of their ends. */
class LineWindow {
  #lines: string[] = [];
  #first = 0;
  #size = 0;

  get lines(): string[] {
    return this.#lines.slice(this.#first);
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#size += line.length + 1;
    while (this.#size > LOG_LIMIT + 1 && this.#first < this.#lines.length) {
      this.#size -= (this.#lines[this.#first]?.length ?? 0) + 1;
      this.#first++;
    }
    // Taking the first off each time would move all the others.
    if (this.#first > MOST_PASSED) {
      this.#lines = this.lines;
      this.#first = 0;
    }
  }
}

const MOST_PASSED = 10_000;

class LineSplitter {
  readonly #decoder = new TextDecoder();
  readonly #window: LineWindow;
  /** The line under way, in the pieces in which it came: many may be of a character each. */
  #pieces: string[] = [];
  #length = 0;

  constructor(window: LineWindow) {
    this.#window = window;
  }

  push(bytes: Uint8Array): void {
    const lines = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) this.#window.add(this.#take(line));
    this.#pieces.push(last);
    this.#length += last.length;
    // The tail of a line without end is kept, so that a program that never breaks lines costs no more.
    if (this.#length <= 2 * LOG_LIMIT && this.#pieces.length <= LOG_LIMIT) return;
    const tail = this.#pieces.join("").slice(-LOG_LIMIT);
    [this.#pieces, this.#length] = [[tail], tail.length];
  }

  end(): void {
    const last = this.#take(this.#decoder.decode());
    if (last !== "") this.#window.add(last);
  }

  #take(end: string): string {
    const line = [...this.#pieces, end].join("").slice(-LOG_LIMIT).replace(/\r$/, "");
    [this.#pieces, this.#length] = [[], 0];
    return line;
  }
}

function readHeader(bytes: Uint8Array): { stream: LogChunk["stream"]; length: number } {
  const length = new DataView(bytes.buffer, bytes.byteOffset, HEADER_LENGTH).getUint32(4);
  const type = bytes[0] ?? 255;
  if (type > 2 || bytes[1] !== 0 || bytes[2] !== 0 || bytes[3] !== 0 || length > LONGEST_FRAME) {
    throw errors.engine_refused("the engine sent a log that is not framed");
  }
  return { stream: type === 2 ? "stderr" : "stdout", length };
}
