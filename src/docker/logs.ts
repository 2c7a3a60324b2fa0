import { Buffer } from "node:buffer";
import { errors, withoutEnd } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import { unhurried } from "./answer.ts";
import type { TransportResponse } from "./transport_messages.ts";

interface LogChunk {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  /** Whether an entry of the log begins with these bytes. */
  readonly begins: boolean;
}

/** Characters of a log to keep; the newest lines win. */
export const LOG_LIMIT = 1 << 20;

/**
 * Milliseconds for the end of a log and the wait for others: few are read at once, and a log driver may
 * hold each back, while something that failed waits to be put back.
 */
export const LOG_LIMIT_MS = 20_000;

const HEADER_LENGTH = 8;
/** Longest frame in bytes: the engine cuts at 16 KiB, so a longer one means an unframed stream. */
const LONGEST_FRAME = 1 << 20;

/**
 * Splits the engine's multiplexed stream into frames: one byte with the stream's number, three
 * zeros, four bytes of length, then the content. Frames may arrive in any pieces. Drops an
 * incomplete last frame, left when the engine went away.
 *
 * Throws `engine_refused` for bytes in another format.
 */
export async function* demultiplex(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  let wanted = HEADER_LENGTH;
  let stream: LogChunk["stream"] | undefined;
  // Joined only once per frame, since a frame may arrive byte by byte.
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
          yield { stream, bytes, begins: true };
          [stream, wanted] = [undefined, HEADER_LENGTH];
        }
      }
    }
  }
}

/** Bytes of a log to read: the number of lines does not limit their length. */
const MOST_LOGGED = 64 << 20;

/** Entries that are asked for beyond the wanted lines. */
const MORE_LINES = 20;
/**
 * Bytes of an entry of a log that is not the end of its line: the engine cuts lines there. No more of a line
 * is kept, since drivers drop entries: what is joined to a secret's beginning may be the end of another.
 */
export const PART = 16 << 10;

/** Whose log it is, as far as that decides how it is read. */
interface LogOf {
  /** Output of a terminal: only the time in front of an entry tells where it begins. */
  readonly isTerminal: boolean;
}

/** The query for the last `lines` lines of a log, and for what is before them. */
export function logQuery(lines: number, { isTerminal }: LogOf) {
  return { stdout: true, stderr: true, tail: lines + MORE_LINES, timestamps: isTerminal };
}

/**
 * The last `lines` lines of a log in the answer to {@link logQuery}; see {@link collectLines}. The engine
 * counts the parts of long lines, so the answer may begin within a line: such a line is left out, with `…`
 * in its place if nothing is before it.
 */
export async function readLog(
  response: TransportResponse,
  { isTerminal, lines, clock }: LogOf & { readonly lines: number; readonly clock: Clock },
  signal: AbortSignal,
): Promise<string[]> {
  let entries = 0;
  const body = bounded(unhurried(response, clock, signal));
  // Newer engines tell by the content type; older ones report "raw" for both kinds.
  const isFramed = !isTerminal ||
    response.headers["content-type"]?.includes("multiplexed") === true;
  const chunks = isFramed ? demultiplex(body) : singleStream(body);
  const counted = async function* () {
    for await (const chunk of isTerminal ? stampedEntries(chunks) : chunks) {
      if (chunk.begins) entries++;
      yield chunk;
    }
  };
  const found = await collectLines(counted());
  const isCut = found.length <= lines && entries >= lines + MORE_LINES;
  return isCut ? ["…", ...found.slice(1)] : found.slice(-lines);
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MOST_LOGGED) return;
    yield chunk;
  }
}

/** A container's output as one stream: with a terminal it is not framed. */
export async function* singleStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LogChunk> {
  for await (const bytes of chunks) yield { stream: "stdout", bytes, begins: false };
}

/** The time that the engine puts in front of an entry. */
const STAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z /g;
const STAMP_LENGTH = "2026-11-28T08:00:00.000000000Z ".length;

/**
 * The entries of a terminal's log, without the times in front of them. A time that the output itself has
 * right behind one is its own; elsewhere in a line it is taken for the engine's.
 */
export async function* stampedEntries(chunks: AsyncIterable<LogChunk>): AsyncGenerator<LogChunk> {
  let rest = "";
  let begins = false;
  const taken = (text: string) => {
    const chunk = { stream: "stdout", bytes: Buffer.from(text, "latin1"), begins } as const;
    begins = false;
    return chunk;
  };
  for await (const { bytes } of chunks) {
    rest += Buffer.from(bytes).toString("latin1");
    let at = 0;
    for (const { index } of rest.matchAll(STAMP)) {
      if (index === at && begins) continue;
      if (index > at) yield taken(rest.slice(at, index));
      begins = true;
      at = index + STAMP_LENGTH;
    }
    const end = Math.max(at, rest.length - STAMP_LENGTH + 1);
    if (end > at) yield taken(rest.slice(at, end));
    rest = rest.slice(end);
  }
  yield taken(rest);
}

/**
 * The lines of a log in the order in which they ended, limited to the last {@link LOG_LIMIT}
 * characters. Lines of the two streams are kept apart; carriage returns at line ends are removed. Of a
 * line of more than {@link PART} bytes the first ones are kept, with `…` behind them. A shorter entry ends
 * its line also without a line end: the engine cuts no line there, so it was the last of a container's start,
 * and what follows may be the end of a line whose beginning was dropped.
 */
export async function collectLines(chunks: AsyncIterable<LogChunk>): Promise<string[]> {
  const window = new LineWindow();
  const streams = { stdout: new LineSplitter(window), stderr: new LineSplitter(window) };
  for await (const chunk of chunks) streams[chunk.stream].push(chunk);
  streams.stdout.end();
  streams.stderr.end();
  return window.lines;
}

/** The newest lines within the limit, which counts one character for each line end. */
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
    // Removing single lines would move all others each time.
    if (this.#first > MOST_PASSED) {
      this.#lines = this.lines;
      this.#first = 0;
    }
  }
}

const MOST_PASSED = 10_000;

const LINE_END = 0x0a;

class LineSplitter {
  readonly #window: LineWindow;
  /** Pieces of the current line, which may be many single bytes. */
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Bytes of the current line that are of its last entry. */
  #ofEntry = 0;

  constructor(window: LineWindow) {
    this.#window = window;
  }

  push({ bytes, begins }: LogChunk): void {
    if (begins && this.#ofEntry < PART) this.end();
    if (begins) this.#ofEntry = 0;
    let rest = bytes;
    for (let end = rest.indexOf(LINE_END); end !== -1; end = rest.indexOf(LINE_END)) {
      this.#add(rest.subarray(0, end));
      this.#window.add(this.#take());
      rest = rest.subarray(end + 1);
    }
    this.#add(rest);
  }

  end(): void {
    if (this.#length > 0) this.#window.add(this.#take());
  }

  #add(piece: Uint8Array): void {
    const room = PART - this.#length;
    if (room > 0 && piece.length > 0) this.#pieces.push(piece.subarray(0, room));
    this.#length += piece.length;
    this.#ofEntry += piece.length;
  }

  #take(): string {
    const text = Buffer.concat(this.#pieces).toString();
    const line = this.#length > PART ? `${withoutEnd(text, "\uFFFD")}…` : text.replace(/\r$/, "");
    [this.#pieces, this.#length, this.#ofEntry] = [[], 0, 0];
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
