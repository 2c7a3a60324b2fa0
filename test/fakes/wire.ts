import type { Socket } from "node:net";
import { Buffer } from "node:buffer";

/** How the body of an HTTP/1.1 message ends. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until-close" };

/** Start line and headers of an HTTP/1.1 message, with the bytes they were read from. */
export interface MessageHead {
  readonly bytes: Buffer;
  readonly startLine: string;
  /** Lower-case names; of a repeated header the last value. */
  readonly headers: Readonly<Record<string, string>>;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

/**
 * Reads a socket piece by piece. Only one read may wait at a time. The socket is paused while more
 * than {@link HIGH_WATER} bytes lie unread.
 */
export class WireReader {
  readonly #socket: Socket;
  #pending: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
      if (this.#pending.length > HIGH_WATER) socket.pause();
      this.#wake?.();
    });
    const end = () => {
      this.#ended = true;
      this.#wake?.();
    };
    socket.on("end", end);
    socket.on("close", end);
    socket.on("error", end);
  }

  /** Start line and headers; `undefined` when the connection ended before a whole head came. */
  async head(): Promise<MessageHead | undefined> {
    const bytes = await this.#through(HEAD_END);
    return bytes === undefined ? undefined : parseHead(bytes);
  }

  /** Hands every byte of a body, framing included, to `sink`; false when it was cut short. */
  async body(framing: Framing, sink: (bytes: Buffer) => void): Promise<boolean> {
    if (framing.kind === "none") return true;
    if (framing.kind === "length") return await this.#exactly(framing.length, sink);
    if (framing.kind === "chunked") return await this.#chunks(sink);
    for (let bytes = await this.some(); bytes !== undefined; bytes = await this.some()) sink(bytes);
    return true;
  }

  /** Whatever is there, at least one byte; `undefined` at the end. */
  async some(limit = Number.MAX_SAFE_INTEGER): Promise<Buffer | undefined> {
    while (this.#pending.length === 0) {
      if (this.#ended) return undefined;
      await this.#more();
    }
    return this.#take(Math.min(limit, this.#pending.length));
  }

  async #chunks(sink: (bytes: Buffer) => void): Promise<boolean> {
    while (true) {
      const line = await this.#through(LINE_END);
      if (line === undefined) return false;
      sink(line);
      const size = Number.parseInt(line.toString("latin1"), 16);
      if (size === 0) return await this.#trailers(sink);
      if (!await this.#exactly(size + 2, sink)) return false;
    }
  }

  async #trailers(sink: (bytes: Buffer) => void): Promise<boolean> {
    while (true) {
      const line = await this.#through(LINE_END);
      if (line === undefined) return false;
      sink(line);
      if (line.length === 2) return true;
    }
  }

  async #exactly(length: number, sink: (bytes: Buffer) => void): Promise<boolean> {
    let left = length;
    while (left > 0) {
      const bytes = await this.some(left);
      if (bytes === undefined) return false;
      left -= bytes.length;
      sink(bytes);
    }
    return true;
  }

  async #through(mark: Buffer): Promise<Buffer | undefined> {
    while (true) {
      const at = this.#pending.indexOf(mark);
      if (at >= 0) return this.#take(at + mark.length);
      if (this.#ended) return undefined;
      await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
      this.#socket.resume();
    });
  }

  #take(length: number): Buffer {
    const taken = this.#pending.subarray(0, length);
    this.#pending = this.#pending.subarray(length);
    return taken;
  }
}

const HIGH_WATER = 1 << 20;

function parseHead(bytes: Buffer): MessageHead {
  const [startLine = "", ...lines] = bytes.toString("latin1").trimEnd().split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { bytes, startLine, headers };
}

/** How the body of a request ends. */
export function requestFraming(head: MessageHead): Framing {
  if (head.headers["transfer-encoding"]?.includes("chunked")) return { kind: "chunked" };
  const length = Number(head.headers["content-length"] ?? "0");
  return length > 0 ? { kind: "length", length } : { kind: "none" };
}

/** How the body of a response to `method` ends. */
export function responseFraming(head: MessageHead, method: string): Framing {
  const status = statusOf(head);
  if (method === "HEAD" || status === 204 || status === 304) return { kind: "none" };
  if (head.headers["transfer-encoding"]?.includes("chunked")) return { kind: "chunked" };
  const length = head.headers["content-length"];
  return length === undefined
    ? { kind: "until-close" }
    : { kind: "length", length: Number(length) };
}

/** Status code of a response. */
export function statusOf(head: MessageHead): number {
  return Number(head.startLine.split(" ")[1]);
}
