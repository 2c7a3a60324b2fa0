import { messageOf, StackwrightError } from "../model/mod.ts";
import { reachable } from "../system/http_probe.ts";
import type { Clock, Files, Log } from "../system/mod.ts";
import type { Handler } from "./handler.ts";
import { listen, type ListenAddress, type Listener } from "./listener.ts";
import { SERVER_LIMITS, type ServerLimits } from "./server_limits.ts";
import { readTlsPair, type TlsPair, type TlsPairFiles, tlsPairStamp } from "./tls_pair.ts";

/** HTTPS, with a pair that may be replaced while the server runs. */
interface TlsOptions extends TlsPairFiles {
  readonly files: Files;
  /** Milliseconds between looks at the files; 10 s by default. */
  readonly checkEveryMs?: number;
}

/** Options of a server: what to serve, and where. */
export interface ServerOptions {
  readonly handler: Handler;
  /** 0 takes a free one. */
  readonly port: number;
  /** Address to listen on; every IPv4 address by default. */
  readonly hostname?: string;
  readonly tls?: TlsOptions;
  /** Instead of {@link SERVER_LIMITS}. */
  readonly limits?: Partial<ServerLimits>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A server that listens. */
export interface Server {
  readonly port: number;
  /** Address of the root as this machine reaches it. */
  readonly url: string;
  /** Address that the server listens on, for messages; not replaced by a reachable one as in `url`. */
  readonly address: string;
  /**
   * Stops accepting, lets requests under way finish for at most `graceMs` milliseconds, then closes
   * their connections. May be called twice; both calls end together.
   */
  shutdown(graceMs: number): Promise<void>;
}

const EVERY_ADDRESS = "0.0.0.0";
const CHECK_EVERY_MS = 10_000;
const MOST_REBIND_TRIES = 500;

/**
 * Starts a server. It closes connections that are slow, silent or too many, to protect the others.
 *
 * Throws `address_unusable` when the address is taken or not there (yet), and `settings_invalid` when
 * it can never be used or the TLS pair is not usable.
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { tls } = options;
  const stamp = tls === undefined ? "" : await tlsPairStamp(tls, tls.files);
  const pair = tls === undefined ? undefined : await readTlsPair(tls, tls.files);
  const address = { port: options.port, hostname: options.hostname ?? EVERY_ADDRESS, pair };
  const server = new RunningServer(options, pair, await listenAt(address, options));
  if (tls !== undefined) server.watchTls(tls, stamp);
  return server;
}

class RunningServer implements Server {
  readonly port: number;
  readonly url: string;
  readonly address: string;
  readonly #options: ServerOptions;
  readonly #hostname: string;
  readonly #end = new AbortController();
  /** Listeners that no longer accept, but may still be answering. */
  readonly #retired = new Set<Listener>();
  #listener: Listener;
  #pair: TlsPair | undefined;
  #watching: Promise<void> = Promise.resolve();
  #shutdown: Promise<void> | undefined;

  constructor(options: ServerOptions, pair: TlsPair | undefined, listener: Listener) {
    this.#options = options;
    this.#hostname = options.hostname ?? EVERY_ADDRESS;
    this.#pair = pair;
    this.#listener = listener;
    this.port = this.#listener.port;
    const scheme = pair === undefined ? "http" : "https";
    const urlOf = (host: string) =>
      `${scheme}://${host.includes(":") ? `[${host}]` : host}:${this.port}`;
    this.url = urlOf(reachable(this.#hostname));
    this.address = urlOf(this.#hostname);
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
        // The files are still being written: the next check reads them.
        if (await tlsPairStamp(tls, tls.files) !== now) continue;
        await this.#renew(pair);
        seen = now;
        log.info("serving with the new TLS certificate", { file: tls.certFile });
      } catch (error) {
        // The two files are often written one after the other: the next check finds both.
        log.warning("keeping the old TLS certificate: the new one is not usable", { error });
      }
    }
  }

  /** Replaces the TLS pair, by another listener where the runtime cannot do it on an open one. */
  async #renew(pair: TlsPair): Promise<void> {
    if (!this.#listener.renew(pair)) {
      this.#retire();
      try {
        this.#listener = await this.#listenAgain(pair);
      } catch (error) {
        this.#listener = await this.#listenAgain(this.#pair);
        throw error;
      }
    }
    this.#pair = pair;
  }

  #retire(): void {
    const old = this.#listener;
    this.#retired.add(old);
    old.drain().finally(() => this.#retired.delete(old));
  }

  /** Listens again, with retries: the old listener frees the port only after a moment. */
  async #listenAgain(pair: TlsPair | undefined): Promise<Listener> {
    for (let tries = 1;; tries++) {
      try {
        const address = { port: this.port, hostname: this.#hostname, pair };
        return await listenAt(address, this.#options);
      } catch (error) {
        if (tries === MOST_REBIND_TRIES) throw error;
        await this.#options.clock.sleep(1, new AbortController().signal);
      }
    }
  }
}

async function listenAt(address: ListenAddress, { handler, limits }: ServerOptions) {
  try {
    return await listen(address, { handler, limits: { ...SERVER_LIMITS, ...limits } });
  } catch (error) {
    const { hostname, port } = address;
    const where = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
    const { code, why } = failureOf(error);
    throw new StackwrightError(code, `could not listen on ${where}: ${why}`, { cause: error });
  }
}

/** Code and advice for a failed listen. A supervisor may retry `address_unusable`: it may pass. */
function failureOf(error: unknown) {
  switch ((error as { readonly code?: unknown })?.code) {
    case "EADDRINUSE":
      return {
        code: "address_unusable",
        why:
          "another program uses this port (ss -ltnp says which); end it, or set another HTTP_PORT " +
          "or METRICS_PORT",
      } as const;
    case "EADDRNOTAVAIL":
      return {
        code: "address_unusable",
        why: "this machine has no such address now; see HTTP_HOST and METRICS_HOST",
      } as const;
    default:
      return {
        code: "settings_invalid",
        why: messageOf(error) +
          "; is it an address of this machine, and may this user open the port?",
      } as const;
  }
}
