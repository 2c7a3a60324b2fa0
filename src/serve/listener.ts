import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { BodyBudget } from "./body_budget.ts";
import { Connections } from "./connections.ts";
import { FairReading } from "./fair_reading.ts";
import type { Handler } from "./handler.ts";
import type { HttpRequest } from "./http_request.ts";
import type { ServerLimits } from "./server_limits.ts";
import type { TlsPair } from "./tls_pair.ts";
import { Turns } from "./turns.ts";
import { cutTinyPieces, toRequest } from "./wire_request.ts";
import { isEvents, type Outgoing, sendResponse } from "./wire_response.ts";

/** One listening socket, in either runtime. */
export interface Listener {
  readonly port: number;
  /**
   * Serves new connections with another TLS pair and returns true; false when the runtime cannot
   * replace the pair of an open listener. Throws when the pair is not usable.
   */
  renew(pair: TlsPair): boolean;
  /** Stops accepting at once; resolves when all connections are closed. May be called twice. */
  drain(): Promise<void>;
  /** Closes all remaining connections. */
  cut(): void;
}

/** The address to listen at, with the certificate. */
export interface ListenAddress {
  readonly port: number;
  readonly hostname: string;
  readonly pair: TlsPair | undefined;
}

/** The handler that is served, and the limits of clients. */
interface Service {
  readonly handler: Handler;
  readonly limits: ServerLimits;
}

type RuntimeServer = PlainServer | SecureServer;

/** Connections that the system queues until the program accepts them. */
const BACKLOG = 511;

/**
 * Listens through the runtime's HTTP server of Node's shape, because it is the one that limits slow
 * clients in both runtimes. Rejects with the system's error when the address cannot be used.
 */
export async function listen(address: ListenAddress, service: Service): Promise<Listener> {
  const connections = new Connections(service.limits.connections);
  const answers = new BodyBudget(service.limits.answerBytes);
  const equipment = {
    ...service,
    connections,
    answers,
    last: new WeakMap<Socket, Promise<void>>(),
    turns: new Turns({ most: 8, rests: false }),
  };
  const reading = new FairReading();
  const server = create(address.pair, service.limits);
  // Bun announces a connection only with its first bytes; before that only a timeout ends it.
  server.on("connection", (socket: Socket) => connections.open(socket));
  server.on(
    address.pair === undefined ? "connection" : "secureConnection",
    (socket: Socket) => boundParser(socket, connections, reading),
  );
  const take = (incoming: IncomingMessage, outgoing: ServerResponse, expected: boolean) =>
    void serve({ incoming, outgoing, expected }, equipment);
  server.on("request", (incoming, outgoing) => take(incoming, outgoing, false));
  server.on("checkContinue", (incoming, outgoing) => take(incoming, outgoing, true));
  // Without this listener the runtime would refuse such requests by itself, uncounted.
  server.on("checkExpectation", (incoming, outgoing) => take(incoming, outgoing, false));
  server.on("clientError", (error: Error, socket: Socket) => {
    // In the middle of an answer the client would take an error text for a part of it.
    if (connections.isBusy(socket)) socket.destroy();
    else dismiss(error, socket);
  });
  server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: address.port, host: address.hostname, backlog: BACKLOG }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    renew: (pair) => renew(server, pair),
    drain: () => {
      server.close();
      return connections.drain();
    },
    cut: () => connections.cut(),
  };
}

/** The runtime's parser of a connection; Bun exposes none. */
interface Parser {
  onIncoming(incoming: IncomingMessage, keepAlive: boolean): number;
  /** Called with the number of bytes of each read; with a negative number on an error. */
  [ON_READ]?: (bytes: number) => unknown;
}

/** Key of the parser's read callback. */
const ON_READ = 5;

/** Result that makes a parser stop, as for a switch to another protocol. */
const STOP = 2;

function parserOf(socket: Socket): Parser | undefined {
  const { parser } = socket as { readonly parser?: Partial<Parser> | null };
  return typeof parser?.onIncoming === "function" ? parser as Parser : undefined;
}

/**
 * Limits the parser of a connection: the runtime would parse all thousands of requests of a chunk, even
 * after the connection ended, and read many chunks of one connection before it reads the next.
 */
function boundParser(socket: Socket, connections: Connections, reading: FairReading): void {
  const parser = parserOf(socket);
  if (parser === undefined) return;
  const onIncoming = parser.onIncoming.bind(parser);
  parser.onIncoming = (incoming, keepAlive) => {
    if (!socket.destroyed && connections.mayBegin(socket)) return onIncoming(incoming, keepAlive);
    socket.destroy();
    return STOP;
  };
  const onRead = parser[ON_READ]?.bind(parser);
  if (onRead === undefined) return;
  parser[ON_READ] = (bytes) => {
    reading.took(socket, bytes);
    return onRead(bytes);
  };
}

/** Bytes of an unread body that the runtime buffers; small, because each byte may be its own piece. */
const UNREAD_BYTES = 4096;

function create(pair: TlsPair | undefined, limits: ServerLimits): RuntimeServer {
  const options = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytes,
    highWaterMark: UNREAD_BYTES,
  };
  return pair === undefined
    ? createPlainServer(options)
    : createSecureServer({ ...options, ...pair, handshakeTimeout: limits.headersMs });
}

/** Replaces the TLS pair of a server; false on Bun, which cannot. */
function renew(server: RuntimeServer, pair: TlsPair): boolean {
  const { setSecureContext } = server as { setSecureContext?: (pair: TlsPair) => void };
  if (setSecureContext === undefined) return false;
  setSecureContext.call(server, { ...pair });
  return true;
}

const DISMISSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Answers a malformed, too large or too slow request with a bare status and closes the connection. */
function dismiss(error: Error & { readonly code?: string }, socket: Socket): void {
  const status = DISMISSALS[error.code ?? ""] ?? "400 Bad Request";
  if (!socket.writable) return void socket.destroy();
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  // Nothing more is read: a client that goes on sending gets a connection reset.
  socket.destroySoon();
}

interface Turn {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Whether the client sends the body only when it is asked to. */
  readonly expected: boolean;
}

interface Equipment extends Service {
  readonly connections: Connections;
  /** Budget of answers that their clients have not received yet. */
  readonly answers: BodyBudget;
  /** The end of the latest request of each connection. */
  readonly last: WeakMap<Socket, Promise<void>>;
  readonly turns: Turns;
}

async function serve(turn: Turn, equipment: Equipment): Promise<void> {
  const { incoming, incoming: { socket }, outgoing } = turn;
  const { connections, limits, answers, last, turns } = equipment;
  if (parserOf(socket) === undefined && !connections.mayBegin(socket)) return void socket.destroy();
  connections.begin(socket, incoming);
  outgoing.once("close", () => {
    const more = connections.end(socket, incoming);
    if (connections.closing && !more) socket.destroySoon();
  });
  // A broken connection shows itself as the end of the body or of the answer.
  for (const each of [outgoing, incoming]) each.on("error", () => {});
  // One request at a time per connection: a client that never reads has only one answer waiting.
  const before = last.get(socket);
  const ended = Promise.withResolvers<void>();
  last.set(socket, ended.promise);
  await before;
  if (!socket.destroyed) await turns.take(() => socket.destroyed);
  const share = answers.open();
  share.onDrop(() => socket.destroy());
  try {
    if (socket.destroyed) return;
    const response = await respond(turn, equipment);
    const { stallMs } = limits;
    const options = { stallMs, last: connections.closing, onWhole: share.took };
    // Events go on while the work does.
    if (!isEvents(response)) connections.send(socket);
    await sendResponse(response, outgoing as Outgoing, options);
    if (!incoming.complete) linger(incoming, limits.lingerMs);
  } catch {
    // The handler never rejects, so the client went away or stopped reading.
    socket.destroy();
  } finally {
    share.close();
    ended.resolve();
  }
}

async function respond({ incoming, outgoing, expected }: Turn, { handler, limits }: Equipment) {
  if (incoming.rawHeaders.length > 2 * limits.headers) return refuse(431, "too many headers");
  const onRead = () => expected && outgoing.writeContinue();
  let request: HttpRequest | undefined;
  try {
    const cut = () => incoming.socket.destroy();
    request = toRequest(incoming, { signal: goneSignal(outgoing), onRead, cut });
  } catch {
    // The beginning of the next request is unknown, so the connection has to end.
    return refuse(400, "malformed request", { connection: "close" });
  }
  if (request === undefined) return refuse(405, "invalid http method");
  return await handler(request, { remote: incoming.socket.remoteAddress ?? "" });
}

/** A lazy signal that aborts when the client goes away: few requests take long enough to need it. */
function goneSignal(outgoing: ServerResponse): () => AbortSignal {
  let gone: AbortController | undefined;
  return () => {
    if (gone !== undefined) return gone.signal;
    const controller = gone = new AbortController();
    const abort = () => {
      if (!outgoing.writableFinished) controller.abort();
    };
    if (outgoing.destroyed) abort();
    else outgoing.once("close", abort);
    return controller.signal;
  };
}

function refuse(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers });
}

/** Discards the rest of a body for a while: a client that is cut while it sends sees no answer. */
function linger(incoming: IncomingMessage, milliseconds: number): void {
  const cut = () => incoming.socket.destroy();
  const late = setTimeout(cut, milliseconds);
  cutTinyPieces(incoming, cut);
  const done = () => clearTimeout(late);
  incoming.once("end", done);
  incoming.once("close", done);
  incoming.resume();
}
