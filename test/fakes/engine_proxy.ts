import * as fs from "node:fs/promises";
import { Buffer } from "node:buffer";
import net, { type Server, type Socket } from "node:net";
import { describeCall, type EngineCall, isPull } from "./engine_calls.ts";
import { type MessageHead, requestFraming, responseFraming, statusOf, WireReader } from "./wire.ts";

/**
 * One failure between a client and its engine, at the `at`-th call (from 1) of its class:
 * `error` answers 500 and does not forward; `timeout` neither answers nor forwards; `cut` forwards,
 * lets the engine act, and closes the client's connection before a byte of the answer.
 */
export interface Fault {
  readonly kind: "error" | "timeout" | "cut";
  readonly at: number;
  readonly among: "all" | "mutating";
  /** Whether the calls after it fail as well. */
  readonly lasts?: boolean;
}

/** What a proxy is started with. */
export interface EngineProxyOptions {
  /** Where to listen. */
  readonly socketPath: string;
  /** Socket of the engine behind. */
  readonly upstream: string;
  readonly fault?: Fault;
  /**
   * Awaited when the engine answered the `n`-th mutating call (from 1) and before the client gets
   * a byte of the answer: the place to kill the client.
   */
  readonly onMutation?: (n: number, call: EngineCall) => void | Promise<void>;
}

/** A running proxy. */
export interface EngineProxy {
  /** For `DOCKER_HOST`. */
  readonly host: string;
  /** Every call in order of arrival. */
  readonly calls: readonly EngineCall[];
  mutations(): number;
  pulls(): number;
  /** Forgets the calls so far and starts counting anew, with another fault or none. */
  reset(fault?: Fault): void;
  /** Cuts every connection and takes no other while it is away, as an engine that is restarted. */
  setAway(isAway: boolean): void;
  /** Closes every connection and the socket. May be called twice. */
  close(): Promise<void>;
}

/** Starts a proxy in front of an engine. Streams and upgraded connections pass through. */
export async function createEngineProxy(options: EngineProxyOptions): Promise<EngineProxy> {
  const state = new ProxyState(options);
  const server = net.createServer((client) =>
    void serve(client, state).catch(() => client.destroy())
  );
  await listen(server, options.socketPath);
  return {
    host: `unix://${options.socketPath}`,
    calls: state.calls,
    mutations: () => state.calls.filter((call) => call.mutating).length,
    pulls: () => state.calls.filter(isPull).length,
    reset: (fault) => state.reset(fault),
    setAway(isAway) {
      state.isAway = isAway;
      if (isAway) { for (const socket of state.open) socket.destroy(); }
    },
    close: async () => {
      for (const socket of state.open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await fs.rm(options.socketPath, { force: true });
    },
  };
}

class ProxyState {
  readonly calls: EngineCall[] = [];
  readonly open = new Set<Socket>();
  readonly options: EngineProxyOptions;
  isAway = false;
  #fault: Fault | undefined;

  constructor(options: EngineProxyOptions) {
    this.options = options;
    this.#fault = options.fault;
  }

  reset(fault: Fault | undefined): void {
    this.calls.length = 0;
    this.#fault = fault;
  }

  /** Records a call; says which mutation it is and what shall go wrong. */
  arrive(call: EngineCall): { readonly mutation: number; readonly fault: Fault | undefined } {
    this.calls.push(call);
    const mutation = this.calls.filter((each) => each.mutating).length;
    const fault = this.#fault;
    const number = fault?.among === "all" ? this.calls.length : mutation;
    const hit = fault !== undefined && (fault.among === "all" || call.mutating) &&
      (fault.lasts === true ? number >= fault.at : number === fault.at);
    return { mutation, fault: hit ? fault : undefined };
  }

  track(socket: Socket): void {
    this.open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.open.delete(socket));
  }
}

/** One client connection, with one connection to the engine for as long as it lasts. */
async function serve(client: Socket, state: ProxyState): Promise<void> {
  if (state.isAway) return void client.destroy();
  state.track(client);
  const engine = net.connect(state.options.upstream);
  state.track(engine);
  client.on("close", () => engine.destroy());
  let answered: Promise<unknown> = Promise.resolve();
  // An engine that closes after its answer: the client may not have the answer yet.
  engine.on("close", () => void answered.finally(() => client.end()).catch(() => {}));
  const fromClient = new WireReader(client);
  const fromEngine = new WireReader(engine);
  while (true) {
    const head = await fromClient.head();
    if (head === undefined) return void engine.destroy();
    const exchanged = exchange(head, { client, engine, fromClient, fromEngine, state });
    answered = exchanged;
    if (!await exchanged) return;
  }
}

interface Connection {
  readonly client: Socket;
  readonly engine: Socket;
  readonly fromClient: WireReader;
  readonly fromEngine: WireReader;
  readonly state: ProxyState;
}

/** One request and its answer; false when the connection carries no further request. */
async function exchange(request: MessageHead, connection: Connection): Promise<boolean> {
  const { client, engine, fromClient, state } = connection;
  const [method = "", target = ""] = request.startLine.split(" ");
  const call = describeCall(method, target);
  const { mutation, fault } = state.arrive(call);
  if (fault?.kind === "timeout") return false;
  if (fault?.kind === "error") {
    await fromClient.body(requestFraming(request), () => {});
    client.write(errorAnswer(method));
    return true;
  }
  engine.write(request.bytes);
  const sent = fromClient.body(requestFraming(request), (bytes) => void engine.write(bytes));
  const response = await finalHead(connection);
  if (response === undefined) return hangUp(client);
  if (call.mutating) await state.options.onMutation?.(mutation, call);
  if (fault?.kind === "cut") {
    await connection.fromEngine.body(responseFraming(response, method), () => {});
    return hangUp(client);
  }
  client.write(response.bytes);
  if (statusOf(response) === 101) return await tunnel(connection);
  const framing = responseFraming(response, method);
  if (framing.kind === "until-close") return await tunnel(connection);
  const whole = await connection.fromEngine.body(framing, (bytes) => void client.write(bytes));
  if (!whole) return hangUp(client);
  return await sent;
}

function hangUp(client: Socket): false {
  client.destroy();
  return false;
}

/** The engine's answer; interim ones (`100 Continue`) are passed on. */
async function finalHead(connection: Connection): Promise<MessageHead | undefined> {
  while (true) {
    const head = await connection.fromEngine.head();
    if (head === undefined) return undefined;
    const status = statusOf(head);
    if (status >= 200 || status === 101) return head;
    connection.client.write(head.bytes);
  }
}

/** Bytes both ways until either side is done: attach, exec, build sessions. */
async function tunnel(connection: Connection): Promise<false> {
  const { client, engine, fromClient, fromEngine } = connection;
  const up = fromClient.body({ kind: "until-close" }, (bytes) => void engine.write(bytes))
    .then(() => engine.end());
  await fromEngine.body({ kind: "until-close" }, (bytes) => void client.write(bytes));
  client.end();
  await up;
  return false;
}

function errorAnswer(method: string): Buffer {
  const body = Buffer.from(`{"message":"injected fault"}\n`);
  const head = "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n" +
    `Content-Length: ${body.length}\r\n\r\n`;
  return method === "HEAD" ? Buffer.from(head) : Buffer.concat([Buffer.from(head), body]);
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await fs.rm(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
}
