import { Buffer } from "node:buffer";
import type { BodyShare } from "./body_budget.ts";
import type { HttpRequest, RequestHeaders } from "./http_request.ts";

/** As much of a runtime's incoming message as a request is made of. */
export interface Incoming {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  once(event: "end" | "close" | "error", listener: () => void): unknown;
  resume(): unknown;
}

interface RequestParts {
  /** Makes what is aborted when the client goes away before it has its answer. */
  readonly signal: () => AbortSignal;
  /** Called once, when somebody begins to read the body: clients may wait for being asked. */
  readonly onRead: () => void;
  /** Ends the connection. */
  readonly cut: () => void;
}

/** Authority of the addresses of requests. What clients send as host is no part of any decision. */
const BASE = "http://stackwright";

/**
 * Makes a request of a message. Undefined for CONNECT, which asks for no path. Throws a
 * `TypeError` when a header has a value that no header can have, when there are two hosts, or when the
 * end of the body cannot be known.
 */
export function toRequest(incoming: Incoming, parts: RequestParts): HttpRequest | undefined {
  if (/^CONNECT$/i.test(incoming.method ?? "")) return undefined;
  return new WireRequest(incoming, parts);
}

class WireRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly #incoming: Incoming;
  readonly #parts: RequestParts;

  constructor(incoming: Incoming, parts: RequestParts) {
    this.method = incoming.method ?? "GET";
    this.url = BASE + pathOf(incoming.url ?? "/");
    this.headers = readHeaders(incoming.rawHeaders);
    // Not every runtime refuses it: it takes such a body for none, and what is in it for the next request.
    const coding = this.headers.get("transfer-encoding") ?? "chunked";
    if (!/(?:^|,)[ \t]*chunked$/i.test(coding)) {
      throw new TypeError("no body can be coded like this");
    }
    // Nor do they refuse two: a proxy may have gone by the other one.
    if (!HOST.test(this.headers.get("host") ?? "")) throw new TypeError("no host is called so");
    this.#incoming = incoming;
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#parts.signal();
  }

  bytes(share?: BodyShare, most = Infinity): Promise<Uint8Array> {
    return this.#hasBody
      ? bytesOf(this.#incoming, { ...this.#parts, share, most })
      : Promise.resolve(new Uint8Array());
  }

  /** As everywhere: what comes with a question about something there is, is not looked at. */
  get #hasBody(): boolean {
    return this.method !== "GET" && this.method !== "HEAD";
  }
}

/** Proxies may name the whole address, and `*` is the server itself. */
function pathOf(url: string): string {
  if (url.startsWith("/")) return url;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url;
  return path.startsWith("/") ? path : `/${path}`;
}

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** One host with a port, or none; two of them were joined by a comma and a space. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;
const NO_VALUE = /[\0\r\n\u0100-\uffff]/;

function readHeaders(raw: readonly string[]): RequestHeaders {
  const values = new Map<string, string>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    if (!NAME.test(name) || NO_VALUE.test(value)) throw new TypeError("no header can be like this");
    const known = values.get(name.toLowerCase());
    values.set(
      name.toLowerCase(),
      known === undefined ? value.trim() : `${known}, ${value.trim()}`,
    );
  }
  return { get: (name) => values.get(name.toLowerCase()) ?? null };
}

const BROKEN = "the connection ended";

/** Pieces of a body after which it has to have as many bytes in each of them, on the average. */
const MANY_PIECES = 4096;
const SMALL_PIECE = 512;

/**
 * Ends the connection of a body in tiny pieces: each of them takes as long as a large one, and there is
 * no turn for others until all of those that came at once are done.
 */
export function cutTinyPieces(incoming: Pick<Incoming, "on">, cut: () => void): void {
  let [pieces, length, isCut] = [0, 0, false];
  incoming.on("data", (chunk) => {
    length += chunk.length;
    if (isCut || ++pieces <= MANY_PIECES || length >= pieces * SMALL_PIECE) return;
    isCut = true;
    cut();
  });
}

interface Wanted extends Pick<RequestParts, "onRead" | "cut"> {
  readonly share: BodyShare | undefined;
  /** Bytes after which the rest is not wanted. */
  readonly most: number;
}

/** In one go, without a promise for each piece: a body may consist of single bytes. */
function bytesOf(incoming: Incoming, { onRead, cut, share, most }: Wanted): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    let whole = false;
    let wanted = true;
    const end = () => {
      whole = true;
      resolve(chunks.length === 1 ? chunks[0] ?? new Uint8Array() : Buffer.concat(chunks));
    };
    share?.onDrop(() => {
      wanted = false;
      chunks.length = 0;
    });
    incoming.on("data", (chunk) => {
      if (!wanted) return;
      chunks.push(unpinned(chunk));
      share?.took(chunk.length);
      length += chunk.length;
      if (length <= most) return;
      wanted = false;
      end();
    });
    cutTinyPieces(incoming, () => {
      wanted = false;
      chunks.length = 0;
      cut();
    });
    incoming.once("end", end);
    // It is closed in the end in any case, and an error costs more than all the rest.
    const broken = () => whole || reject(new Error(BROKEN));
    incoming.once("error", broken);
    incoming.once("close", broken);
    onRead();
    incoming.resume();
  });
}

/** A small piece may be a view of a large buffer, which it would keep. */
function unpinned(chunk: Uint8Array): Uint8Array {
  return chunk.buffer.byteLength > 2 * chunk.length + 1024 ? new Uint8Array(chunk) : chunk;
}
