import * as fs from "node:fs/promises";
import http from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import https from "node:https";
import { DEFAULT_CONTEXT, errors, messageOf, type StackwrightError, utf8 } from "../model/mod.ts";
import { MOST_GIVEN, readAll } from "../system/mod.ts";
import { describeEndpoint, type EndpointTls, type EngineEndpoint } from "./endpoint.ts";
import { callBySocket } from "./socket_call.ts";
import type { SshForward } from "./ssh_forward.ts";
import type { TransportRequest, TransportResponse } from "./transport_messages.ts";
import { onNoAnswer } from "./no_answer.ts";
import { isDeadConnection, isRefusedConnection } from "./connection_errors.ts";

/** HTTP to one engine. */
export interface Transport {
  /** The endpoint for people. */
  readonly description: string;
  /**
   * Sends a request and waits for the head of its answer, whatever its status.
   *
   * GET and HEAD share idle connections and are sent once more when such a connection proves dead.
   * All others get a connection of their own and are sent at most once: a change that may have
   * happened is never repeated behind the caller's back.
   *
   * Throws `engine_unreachable` without an answer, and the signal's reason when aborted, also while
   * the body is read.
   */
  request(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>;
  /** Closes idle connections. May be called twice. */
  close(): void;
}

/** Times in milliseconds. */
export interface TransportOptions {
  /** Milliseconds until a connection must be established, TLS included. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds until the head of an answer to GET must arrive. */
  readonly answerTimeoutMs?: number;
  /** Name of the engine's context, for people; absent for the default one. */
  readonly context?: string;
  readonly forward?: SshForward;
}

const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 60_000;
const IDLE_SOCKETS = 8;

/** Makes a transport; nothing is opened before the first request. */
export function createTransport(
  endpoint: EngineEndpoint,
  options: TransportOptions = {},
): Transport {
  return new HttpTransport(endpoint, options);
}

type Connector = Readonly<RequestOptions & Pick<https.RequestOptions, "rejectUnauthorized">>;

class HttpTransport implements Transport {
  readonly description: string;
  readonly #endpoint: EngineEndpoint;
  readonly #options: TransportOptions;
  readonly #agent: http.Agent | https.Agent;
  readonly #secure: boolean;
  #connector: { readonly certificates: string; readonly made: Promise<Connector> } | undefined;

  constructor(endpoint: EngineEndpoint, options: TransportOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#secure = endpoint.kind === "tcp" && endpoint.tls !== undefined;
    const settings = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS };
    this.#agent = this.#secure ? new https.Agent(settings) : new http.Agent(settings);
    const of = options.context === undefined ? "" : ` (context ${options.context})`;
    this.description = describeEndpoint(endpoint) + of;
  }

  async request(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    signal.throwIfAborted();
    const connector = await this.#connection();
    const repeatable = isRead(request.method) && request.body === undefined;
    const { socketPath } = connector;
    if (request.isWhole === true && typeof socketPath === "string") {
      const explain = (error: unknown) =>
        signal.aborted ? signal.reason : this.#unreachable(request, error);
      const answerMs = isRead(request.method) ? this.#answerMs : Infinity;
      const call = { socketPath, answerMs, isRepeatable: repeatable, explain };
      const response = await callBySocket(request, call, signal);
      if (response !== undefined) return response;
    }
    const used = { reused: false };
    try {
      return await this.#send(request, connector, signal, used);
    } catch (error) {
      if (!repeatable || !used.reused || !isDeadConnection(error) || signal.aborted) throw error;
      return await this.#send(request, connector, signal, used);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  get #answerMs(): number {
    return this.#options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
  }

  /**
   * The connection's settings. Certificates are read again when their files change: they are
   * replaced in place while the service runs. Unreadable new ones are not used.
   */
  async #connection(): Promise<Connector> {
    const certificates = await certificatesMark(this.#endpoint);
    const before = this.#connector;
    if (before?.certificates === certificates) return await before.made;
    const made: Promise<Connector> = connectorOf(this.#endpoint, this.#options.forward)
      .catch((error) => {
        if (this.#connector?.made === made) this.#connector = before;
        if (before === undefined) throw error;
        return before.made;
      });
    this.#connector = { certificates, made };
    return await made;
  }

  #send(
    request: TransportRequest,
    connector: Connector,
    signal: AbortSignal,
    used: { reused: boolean },
  ): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const outgoing = (this.#secure ? https : http).request({
        ...connector,
        method: request.method,
        path: request.path,
        headers: { ...request.headers },
        // A runtime may resend on a stale shared connection by itself, so changes never share one.
        agent: isRead(request.method) ? this.#agent : false,
      });
      // Rejects directly, since a runtime that resends the request on another connection reports no
      // error.
      const onAbort = () => {
        timers.clear();
        outgoing.destroy(new Error("aborted"));
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      const release = () => signal.removeEventListener("abort", onAbort);
      const timers = this.#limits(outgoing, request.method);
      const fail = (error: unknown) => {
        used.reused = outgoing.reusedSocket;
        timers.clear();
        release();
        reject(signal.aborted ? signal.reason : this.#unreachable(request, error));
      };
      outgoing.on("error", fail);
      onNoAnswer(outgoing, fail);
      outgoing.on("response", (incoming) => {
        timers.clear();
        if (signal.aborted) return void incoming.on("error", () => {}).destroy();
        incoming.on("close", release);
        resolve(this.#answer(request, incoming, signal));
      });
      outgoing.end(request.body);
    });
  }

  /** Ends a request whose connection or answer takes too long. */
  #limits(outgoing: ClientRequest, method: string): { clear(): void } {
    const connectMs = this.#options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    const answerMs = this.#answerMs;
    const answer = isRead(method)
      ? setTimeout(() => outgoing.destroy(new Error(`no answer within ${answerMs} ms`)), answerMs)
      : undefined;
    const connect = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${connectMs} ms`)),
      connectMs,
    );
    outgoing.on("socket", (socket) => {
      if (!socket.connecting) return clearTimeout(connect);
      socket.once(this.#secure ? "secureConnect" : "connect", () => clearTimeout(connect));
    });
    return { clear: () => [answer, connect].forEach((each) => clearTimeout(each)) };
  }

  #answer(
    request: TransportRequest,
    incoming: IncomingMessage,
    signal: AbortSignal,
  ): TransportResponse {
    const explain = (error: unknown) =>
      signal.aborted ? signal.reason : this.#unreachable(request, error);
    // The body may fail when nobody reads it any more; without a listener that ends the process.
    incoming.on("error", () => {});
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers as Record<string, string | undefined>,
      body: readBody(incoming, explain),
      discard: () => void incoming.destroy(),
    };
  }

  #unreachable(request: TransportRequest, cause: unknown): StackwrightError {
    const what = `${request.method} ${request.path.split("?")[0]}`;
    const after = isRead(request.method) ? "" : "; the engine may have acted on it";
    const trouble = this.#options.forward?.trouble ?? "";
    const advice = isRefusedConnection(cause)
      ? "; is it running, and may this user connect?"
      : after;
    const { context = DEFAULT_CONTEXT } = this.#options;
    return errors.engine_unreachable(
      `no answer from the engine at ${this.description} to ${what}: ${messageOf(cause)}` +
        `${trouble === "" ? "" : ` (ssh: ${trouble})`}${advice}`,
      // Addresses are nothing for clients, and causes name them as well.
      { cause, told: `no answer from the engine of context ${context} to ${what}${advice}` },
    );
  }
}

async function* readBody(incoming: IncomingMessage, explain: (error: unknown) => unknown) {
  try {
    for await (const chunk of incoming) yield chunk as Uint8Array;
  } catch (error) {
    throw explain(error);
  }
  if (!incoming.complete) throw explain(new Error("the connection ended inside the answer"));
}

async function connectorOf(
  endpoint: EngineEndpoint,
  forward: SshForward | undefined,
): Promise<Connector> {
  if (forward !== undefined) return { socketPath: await forward.open() };
  if (endpoint.kind === "ssh") throw new Error("an engine by SSH takes a forward");
  if (endpoint.kind === "unix") return { socketPath: endpoint.socketPath };
  const address = { host: endpoint.host, port: endpoint.port };
  return endpoint.tls === undefined ? address : {
    ...address,
    ...await tlsFiles(endpoint.tls),
    // Independent of NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
  };
}

/** A text that changes with the files of the certificates; empty without certificates. */
async function certificatesMark(endpoint: EngineEndpoint): Promise<string> {
  if (endpoint.kind !== "tcp" || endpoint.tls?.certificates === undefined) return "";
  const { certificates, files = CERTIFICATES } = endpoint.tls;
  const marks = files.map(async (name) => {
    const info = await fs.stat(`${certificates}/${name}`).catch(() => undefined);
    return info === undefined ? "" : `${info.ino} ${info.size} ${info.mtimeMs}`;
  });
  return (await Promise.all(marks)).join();
}

const CERTIFICATES = ["ca.pem", "cert.pem", "key.pem"];

async function tlsFiles(tls: EndpointTls): Promise<https.AgentOptions> {
  if (tls.certificates === undefined) return {};
  const files = tls.files ?? CERTIFICATES;
  const read = (name: string) => readAll(`${tls.certificates}/${name}`, MOST_GIVEN).then(utf8);
  try {
    const entries = files.map(async (name) => [name.replace(/\.pem$/, ""), await read(name)]);
    return Object.fromEntries(await Promise.all(entries));
  } catch (error) {
    const where = `${tls.certificates} (DOCKER_CERT_PATH, or a context's)`;
    const text = `cannot read ${files.join(", ")} in ${where}: ${messageOf(error)}`;
    throw errors.settings_invalid(text, { cause: error });
  }
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
