import { isIP } from "node:net";
import { messageOf, StackwrightError } from "../model/mod.ts";

/** A request to another server. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute, http or https. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer of a server; any status is one. */
export interface HttpAnswer {
  readonly status: number;
  /** One header, by its lower-case name. */
  header(name: string): string | undefined;
  readonly body: string;
}

/** Other servers as a port: everything that asks one over HTTP gets this. */
export interface HttpClient {
  /**
   * Sends a request and reads the whole answer. A redirect is followed for GET and on the same
   * origin only: its headers are credentials of that one place.
   *
   * Throws `timeout`, `http_failed` when there is no usable answer (its message has the origin of the
   * URL, and nothing else of it), and the signal's reason.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Ends idle connections. */
  close(): void;
}

/** Options of how a client reaches other servers. */
export interface HttpClientOptions {
  /** Longest time for one request and its answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Largest body of an answer, in bytes after decompression. */
  readonly maxBytes?: number;
  /** Proxies by the scheme of the URL, and hosts that are reached without. */
  readonly proxy?: {
    readonly http?: string | undefined;
    readonly https?: string | undefined;
    readonly noProxy: readonly string[];
  };
  /** Certificates in PEM form that are trusted beside the usual ones. */
  readonly caCertificates?: string | undefined;
}

const MOST_REDIRECTS = 5;

/** The real client. */
export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const { timeoutMs = 30_000, maxBytes = 1024 * 1024 } = options;
  const transport = createTransport(options);
  return {
    async send(request, signal) {
      const limit = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, limit]);
      try {
        return await follow(request, (each) => transport.fetch(each, either), maxBytes);
      } catch (error) {
        signal.throwIfAborted();
        if (limit.aborted) {
          const message = `${placeOf(request)} did not answer within ${timeoutMs / 1000} seconds`;
          throw new StackwrightError("timeout", message);
        }
        if (error instanceof StackwrightError) throw error;
        throw failure(request, reasonOf(error));
      }
    },
    close: () => transport.close(),
  };
}

type Fetch = (request: HttpRequest) => Promise<Response>;

async function follow(request: HttpRequest, fetch: Fetch, maxBytes: number): Promise<HttpAnswer> {
  let current = request;
  for (let count = 0; count <= MOST_REDIRECTS; count++) {
    const response = await fetch(current);
    const location = response.headers.get("location");
    if (location === null || response.status < 300 || response.status > 399) {
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body: await readBody(response, current, maxBytes),
      };
    }
    await response.body?.cancel();
    current = { ...current, url: redirected(current, location) };
  }
  throw failure(request, `it redirects more than ${MOST_REDIRECTS} times`);
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

async function readBody(
  response: Response,
  request: HttpRequest,
  maxBytes: number,
): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > maxBytes) {
      await reader.cancel();
      throw failure(request, `its answer has more than ${maxBytes} bytes`);
    }
    chunks.push(next.value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return new TextDecoder().decode(bytes);
}

interface Transport {
  fetch(request: HttpRequest, signal: AbortSignal): Promise<Response>;
  close(): void;
}

/** The runtime's own fetch; proxies and certificates are given to it in each runtime's manner. */
function createTransport({ proxy, caCertificates }: HttpClientOptions): Transport {
  const clients = new Map<string, Deno.HttpClient>();
  const denoClient = (through: string | undefined) => {
    const key = through ?? "";
    const client = clients.get(key) ?? Deno.createHttpClient({
      ...(through === undefined ? {} : { proxy: denoProxy(through) }),
      ...(caCertificates === undefined ? {} : { caCerts: [caCertificates] }),
    });
    clients.set(key, client);
    return client;
  };
  return {
    fetch({ url, method, headers, body }, signal) {
      const through = proxyFor(new URL(url), proxy);
      const own = "Deno" in globalThis ? { client: denoClient(through) } : {
        ...(through === undefined ? {} : { proxy: through }),
        ...(caCertificates === undefined ? {} : { tls: { ca: caCertificates } }),
      };
      const sent = body === undefined ? {} : { body };
      return fetch(url, { method, headers, redirect: "manual", signal, ...sent, ...own });
    },
    close() {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

/** User and password stand beside the URL of a proxy there, not in it. */
function denoProxy(url: string): Deno.Proxy {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (username === "") return { url };
  parsed.username = "";
  parsed.password = "";
  const basicAuth = {
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
  return { url: parsed.href, basicAuth };
}

/** The proxy for a URL; hosts of `noProxy` and this machine are reached without one. */
export function proxyFor(url: URL, proxy: HttpClientOptions["proxy"]): string | undefined {
  const chosen = url.protocol === "https:" ? proxy?.https ?? proxy?.http : proxy?.http;
  if (chosen === undefined || isLoopback(url.hostname)) return undefined;
  const direct = proxy?.noProxy.some((pattern) => matchesNoProxy(url, pattern.toLowerCase()));
  return direct === true ? undefined : chosen;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));
}

function matchesNoProxy(url: URL, pattern: string): boolean {
  if (pattern === "*" || pattern === url.host || pattern === url.hostname) return true;
  const suffix = pattern.replace(/^\*?\.?/, ".");
  return suffix.length > 1 && url.hostname.endsWith(suffix);
}

function failure(request: HttpRequest, reason: string): StackwrightError {
  return new StackwrightError("http_failed", `${placeOf(request)}: ${reason}`);
}

/** Paths and queries may hold what is secret, so only the origin is told. */
function placeOf({ method, url }: HttpRequest): string {
  return `${method} ${URL.canParse(url) ? new URL(url).origin : "a malformed URL"}`;
}

/** Why a request failed, without the URL that runtimes like to repeat. */
function reasonOf(error: unknown): string {
  const text = messageOf(error).replace(/^error sending request[^:]*?for url \(.*?\): /, "");
  return /https?:\/\//.test(text) ? "the connection failed" : text;
}
