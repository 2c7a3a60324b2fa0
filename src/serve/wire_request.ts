import { Buffer } from "node:buffer";
import type { BodyShare } from "./body_budget.ts";
import type { HttpRequest, RequestHeaders } from "./http_request.ts";

/** The part of a runtime's incoming message that a request needs. */
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
  /** Makes a signal that aborts when the client goes away before it has its answer. */
  readonly signal: () => AbortSignal;
  /** Called once, when the body begins to be read: clients may wait for `100 Continue`. */
  readonly onRead: () => void;
  /** Ends the connection. */
  readonly cut: () => void;
}

/** Origin of the URLs of requests. The host that clients send must not influence any decision. */
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
    // Some runtimes take such a body for none and its content for the next request (smuggling).
    const coding = this.headers.get("transfer-encoding") ?? "chunked";
    if (!/(?:^|,)[ \t]*chunked$/i.test(coding)) {
      throw new TypeError("no body can be coded like this");
    }
    // Some accept two hosts, too: a proxy may have decided by the other one.
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

  /** As usual in HTTP, a body of GET or HEAD is ignored. */
  get #hasBody(): boolean {
    return this.method !== "GET" && this.method !== "HEAD";
  }
}

/** The path of a request target: proxies may send a whole URL, and `*` stands for the server itself. */
function pathOf(url: string): string {
  if (url.startsWith("/")) return url;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url;
  return path.startsWith("/") ? path : `/${path}`;
}

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** One host with a port, or none; fails for two hosts, which were joined by a comma and a space. */
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

/** Pieces of a body after which they must have {@link SMALL_PIECE} bytes on average. */
const MANY_PIECES = 4096;
const SMALL_PIECE = 512;

/**
 * Ends the connection of a body in tiny pieces: each costs as much as a large one, and other work gets
 * no turn until all pieces that came at once are handled.
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
  /** Bytes after which the rest of the body is dropped. */
  readonly most: number;
}

/** Collects a body without a promise for each piece: a body may consist of single bytes. */
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
    // The close event always comes; creating an error for a complete body would be costly.
    const broken = () => whole || reject(new Error(BROKEN));
    incoming.once("error", broken);
    incoming.once("close", broken);
    onRead();
    incoming.resume();
  });
}

/** A copy of a small piece that is a view of a large buffer, which it would keep in memory. */
function unpinned(chunk: Uint8Array): Uint8Array {
  return chunk.buffer.byteLength > 2 * chunk.length + 1024 ? new Uint8Array(chunk) : chunk;
}
