import { errors, messageOf, StackwrightError, utf8 } from "../model/mod.ts";
import { createTransport, type HttpClientOptions } from "./http_transport.ts";
import type { HttpAnswer, HttpClient, HttpRequest } from "./http_request.ts";

const MOST_REDIRECTS = 5;

/** The real client. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const { timeoutMs = 30_000, maxBytes = 1024 * 1024 } = options;
  const transport = createTransport(options);
  return {
    async send(request, signal) {
      const limit = AbortSignal.timeout(timeoutMs);
      const rest = new AbortController();
      const either = AbortSignal.any([signal, limit, rest.signal]);
      try {
        return await follow(request, (each) => transport.fetch(each, either), maxBytes);
      } catch (error) {
        signal.throwIfAborted();
        if (limit.aborted) throw tooSlow(request, timeoutMs);
        if (error instanceof StackwrightError) throw error;
        throw failure(request, reasonOf(error));
      } finally {
        // What was not read of an answer does not come any more; cancelling it alone lets Bun go on.
        rest.abort();
      }
    },
    close: () => transport.close(),
  };
}

type Fetch = (request: HttpRequest) => Promise<Response>;

function tooSlow(request: HttpRequest, timeoutMs: number): StackwrightError {
  const seconds = timeoutMs / 1000;
  return errors.timeout(`${placeOf(request)} did not answer within ${seconds} seconds`);
}

async function follow(request: HttpRequest, fetch: Fetch, maxBytes: number): Promise<HttpAnswer> {
  let current = request;
  for (let count = 0; count <= MOST_REDIRECTS; count++) {
    const response = await fetch(current);
    const encoding = response.headers.get("content-encoding") ?? "identity";
    if (encoding !== "identity") {
      await response.body?.cancel();
      throw failure(current, "its answer is compressed, which was not asked for");
    }
    const location = response.headers.get("location");
    if (location === null || response.status < 300 || response.status > 399) {
      return answerOf(response, await readBody(response, current, maxBytes));
    }
    await response.body?.cancel();
    current = { ...current, url: redirected(current, location) };
  }
  throw failure(request, `it redirects more than ${MOST_REDIRECTS} times`);
}

function answerOf({ status, headers }: Response, bytes: Uint8Array): HttpAnswer {
  return {
    status,
    header: (name) => headers.get(name) ?? undefined,
    bytes,
    get body() {
      return utf8(bytes);
    },
  };
}

function redirected(request: HttpRequest, location: string): string {
  if (!URL.canParse(location, request.url)) throw failure(request, "it redirects to no URL");
  const to = new URL(location, request.url);
  if (to.origin !== new URL(request.url).origin) {
    throw failure(request, `it redirects to ${to.origin}, which is not followed`);
  }
  if (request.method !== "GET") {
    throw failure(request, `it redirects a ${request.method}, which is not followed`);
  }
  return to.href;
}

/** Pieces of an answer after which they must have {@link SMALL_PIECE} bytes on average. */
const MANY_PIECES = 16_384;
const SMALL_PIECE = 32;

/**
 * The bytes of an answer. Throws `http_failed` for one that is larger, and for one in tiny pieces, each of
 * which takes as long as a large one: half a minute of them is half a minute of the processor.
 */
export async function readBody(
  response: Response,
  request: HttpRequest,
  maxBytes: number,
): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  // One buffer: a server may send a byte at a time, and pieces may be views of much larger buffers.
  let whole = new Uint8Array(0);
  let size = 0;
  let pieces = 0;
  const refuse = async (reason: string) => {
    await reader.cancel();
    throw failure(request, reason);
  };
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const end = size + next.value.length;
    if (end > maxBytes) await refuse(`its answer has more than ${maxBytes} bytes`);
    if (++pieces > MANY_PIECES && end < pieces * SMALL_PIECE) {
      await refuse(`its answer comes in more than ${MANY_PIECES} tiny pieces`);
    }
    if (end > whole.length) {
      const grown = new Uint8Array(Math.max(end, 2 * whole.length));
      grown.set(whole);
      whole = grown;
    }
    whole.set(next.value, size);
    size = end;
  }
  return whole.subarray(0, size);
}

function failure(request: HttpRequest, reason: string): StackwrightError {
  return errors.http_failed(`${placeOf(request)}: ${reason}`);
}

/** Method and origin for messages: paths and queries may hold secrets. */
function placeOf({ method, url }: HttpRequest): string {
  return `${method} ${URL.canParse(url) ? new URL(url).origin : "a malformed URL"}`;
}

/** Why a request failed, without the URL that runtimes like to repeat. */
function reasonOf(error: unknown): string {
  const text = messageOf(error).replace(/^error sending request[^:]*?for url \(.*?\): /, "");
  return /https?:\/\//.test(text) ? "the connection failed" : text;
}
