import { messageOf, StackwrightError } from "../model/mod.ts";
import type { Clock, Files, Log } from "../system/mod.ts";
import type { Handler } from "./handler.ts";
import { readTlsPair, type TlsPair, type TlsPairFiles, tlsPairStamp } from "./tls_pair.ts";

/** HTTPS, with a pair that may be replaced while the server runs. */
export interface TlsOptions extends TlsPairFiles {
  readonly files: Files;
  /** Milliseconds between looks at the files; 10 s by default. */
  readonly checkEveryMs?: number;
}

/** What to serve, and where. */
export interface ServerOptions {
  readonly handler: Handler;
  /** 0 takes a free one. */
  readonly port: number;
  /** Address to listen on; every IPv4 address by default. */
  readonly hostname?: string;
  readonly tls?: TlsOptions;
  /** Most bytes of a request body the handler reads; the runtime must let them through. */
  readonly maxPayload: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A server that listens. */
export interface Server {
  readonly port: number;
  /** Address of the root, for people and tests. */
  readonly url: string;
  /**
   * Stops accepting, lets requests under way finish for at most `graceMs` milliseconds, then goes on
   * without them. May be called twice; both calls end together.
   */
  shutdown(graceMs: number): Promise<void>;
}

/** One listening socket of whichever runtime this is. */
interface Listener {
  readonly port: number;
  /** Stops accepting at once; resolves when no request is under way any more. */
  drain(): Promise<void>;
  /** Ends what is left. */
  cut(): void;
}

interface Place {
  readonly port: number;
  readonly hostname: string;
  readonly pair: TlsPair | undefined;
}

const CHECK_EVERY_MS = 10_000;
/** Silence after which Bun ends a connection that has no request, in seconds. */
const IDLE_SECONDS = 120;
/** Bun refuses bodies above its limit by itself, without our envelope: ours must come first. */
const LEAST_RUNTIME_LIMIT = 128 * 1024 * 1024;
const MOST_REBIND_TRIES = 500;

/**
 * Listens. The runtimes allow no limit on the time for headers; Bun drops idle connections, and the
 * body reader has a limit of its own, so a reverse proxy should face untrusted networks.
 *
 * Throws `settings_invalid` when the address cannot be used or the TLS pair is not usable.
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { tls } = options;
  const stamp = tls === undefined ? "" : await tlsPairStamp(tls, tls.files);
  const pair = tls === undefined ? undefined : await readTlsPair(tls, tls.files);
  const server = new RunningServer(options, pair);
  if (tls !== undefined) server.watchTls(tls, stamp);
  return server;
}

class RunningServer implements Server {
  readonly port: number;
  readonly url: string;
  readonly #options: ServerOptions;
  readonly #hostname: string;
  readonly #end = new AbortController();
  /** Listeners that no longer accept, but may still be answering. */
  readonly #retired = new Set<Listener>();
  #listener: Listener;
  #pair: TlsPair | undefined;
  #watching: Promise<void> = Promise.resolve();
  #shutdown: Promise<void> | undefined;

  constructor(options: ServerOptions, pair: TlsPair | undefined) {
    this.#options = options;
    this.#hostname = options.hostname ?? "0.0.0.0";
    this.#pair = pair;
    this.#listener = this.#listen(options.port, pair);
    this.port = this.#listener.port;
    const host = this.#hostname === "0.0.0.0" ? "127.0.0.1" : this.#hostname;
    const scheme = pair === undefined ? "http" : "https";
    this.url = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${this.port}`;
  }

  watchTls(tls: TlsOptions, stamp: string): void {
    this.#watching = this.#watchTls(tls, stamp);
  }

  shutdown(graceMs: number): Promise<void> {
    this.#shutdown ??= this.#shutDown(graceMs);
    return this.#shutdown;
  }

  async #shutDown(graceMs: number): Promise<void> {
    this.#end.abort();
    await this.#watching;
    const listeners = [...this.#retired, this.#listener];
    const drained = Promise.all(listeners.map((listener) => listener.drain())).then(() => true);
    const timer = new AbortController();
    const late = this.#options.clock.sleep(graceMs, timer.signal).then(() => false, () => false);
    if (!await Promise.race([drained, late])) {
      this.#options.log.warning("requests were still under way when the server ended");
      for (const listener of listeners) listener.cut();
    }
    timer.abort();
  }

  #listen(port: number, pair: TlsPair | undefined): Listener {
    const place: Place = { port, hostname: this.#hostname, pair };
    try {
      return listen(place, this.#options);
    } catch (error) {
      throw new StackwrightError(
        "settings_invalid",
        `could not listen on ${this.#hostname}:${port}: ${
          messageOf(error)
        }; is the port free, and ` +
          `may this user open it?`,
        { cause: error },
      );
    }
  }

  async #watchTls(tls: TlsOptions, stamp: string): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#end;
    let seen = stamp;
    while (!signal.aborted) {
      await clock.sleep(tls.checkEveryMs ?? CHECK_EVERY_MS, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        const now = await tlsPairStamp(tls, tls.files);
        if (now === seen || now === "") continue;
        const pair = await readTlsPair(tls, tls.files);
        await this.#rebind(pair);
        seen = now;
        log.info("serving with the new TLS certificate", { file: tls.certFile });
      } catch (error) {
        // The files are often written one after the other: the next look finds them both.
        log.warning("keeping the old TLS certificate: the new one is not usable", { error });
      }
    }
  }

  /**
   * Listens again with another pair. No runtime can exchange the pair of an open listener: Bun says
   * it did and goes on with the old one. So there is a moment in which connections are refused.
   */
  async #rebind(pair: TlsPair): Promise<void> {
    this.#retire();
    try {
      this.#listener = await this.#listenAgain(pair);
      this.#pair = pair;
    } catch (error) {
      this.#listener = await this.#listenAgain(this.#pair);
      throw error;
    }
  }

  #retire(): void {
    const old = this.#listener;
    this.#retired.add(old);
    old.drain().finally(() => this.#retired.delete(old));
  }

  /** The port is free a moment after the old listener was told to stop, not at once. */
  async #listenAgain(pair: TlsPair | undefined): Promise<Listener> {
    for (let tries = 1;; tries++) {
      try {
        return this.#listen(this.port, pair);
      } catch (error) {
        if (tries === MOST_REBIND_TRIES) throw error;
        await this.#options.clock.sleep(1, new AbortController().signal);
      }
    }
  }
}

/** As much of Bun's server as is used here; its types cannot be loaded beside Deno's. */
interface BunRuntime {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly tls?: TlsPair;
    readonly idleTimeout: number;
    readonly maxRequestBodySize: number;
    readonly fetch: (request: Request, server: BunServer) => Promise<Response>;
  }): BunServer;
}

interface BunServer {
  readonly port: number;
  stop(force?: boolean): Promise<void>;
  requestIP(request: Request): { readonly address: string } | null;
  timeout(request: Request, seconds: number): void;
}

function listen(place: Place, options: ServerOptions): Listener {
  const { Bun: bun } = globalThis as { readonly Bun?: BunRuntime };
  return bun === undefined ? listenOnDeno(place, options) : listenOnBun(bun, place, options);
}

function listenOnDeno({ port, hostname, pair }: Place, { handler }: ServerOptions): Listener {
  const server = Deno.serve(
    { port, hostname, onListen: () => {}, ...pair },
    (request, info) => handler(request, { remote: info.remoteAddr.hostname }),
  );
  // Aborting a signal of Deno's server after shutdown() throws where nobody can catch it: what is
  // left when the grace period ends goes with the process.
  return { port: server.addr.port, drain: () => server.shutdown(), cut: () => {} };
}

function listenOnBun(
  bun: BunRuntime,
  { port, hostname, pair }: Place,
  { handler, maxPayload }: ServerOptions,
): Listener {
  const server = bun.serve({
    port,
    hostname,
    ...(pair === undefined ? {} : { tls: pair }),
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: Math.max(maxPayload, LEAST_RUNTIME_LIMIT),
    fetch: (request, own) => {
      // Waiting for a run is silent for minutes.
      own.timeout(request, 0);
      return handler(request, { remote: own.requestIP(request)?.address ?? "" });
    },
  });
  return { port: server.port, drain: () => server.stop(), cut: () => void server.stop(true) };
}
