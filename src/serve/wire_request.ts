/** As much of a runtime's incoming message as a request is made of. */
export interface Incoming {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  once(event: "end" | "close" | "error", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** What a request has beside its message. */
export interface RequestParts {
  /** Aborted when the client goes away before it has its answer. */
  readonly signal: AbortSignal;
  /** Called once, when somebody begins to read the body: clients may wait for being asked. */
  readonly onRead: () => void;
}

/** Authority of the addresses of requests. What clients send as host is no part of any decision. */
const BASE = "http://stackwright";

/**
 * Makes a web-standard request of a message. Undefined for the methods that such requests cannot
 * have. Throws a `TypeError` when a header has a value that no header can have.
 */
export function toRequest(incoming: Incoming, parts: RequestParts): Request | undefined {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  if (/^(CONNECT|TRACE|TRACK)$/i.test(method)) return undefined;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  const init = { method, headers, signal: parts.signal };
  const address = BASE + pathOf(url);
  if (method === "GET" || method === "HEAD") return new Request(address, init);
  const streamed = { ...init, body: bodyOf(incoming, parts.onRead), duplex: "half" };
  return new Request(address, streamed);
}

/** Proxies may name the whole address, and `*` is the server itself. */
function pathOf(url: string): string {
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url;
  return path.startsWith("/") ? path : `/${path}`;
}

/** Asks for more only when the reader does. A reader that wants no more lets the rest go by. */
function bodyOf(incoming: Incoming, onRead: () => void): ReadableStream<Uint8Array> {
  let open = true;
  let asked = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const finish = (how: () => void) => {
        if (open) how();
        open = false;
      };
      incoming.on("data", (chunk) => {
        if (!open) return;
        controller.enqueue(new Uint8Array(chunk));
        incoming.pause();
      });
      incoming.once("end", () => finish(() => controller.close()));
      const broken = () => finish(() => controller.error(new Error("the connection ended")));
      incoming.once("error", broken);
      incoming.once("close", broken);
      incoming.pause();
    },
    pull() {
      if (!asked) onRead();
      asked = true;
      incoming.resume();
    },
    cancel() {
      open = false;
      incoming.resume();
    },
  }, { highWaterMark: 0 });
}
