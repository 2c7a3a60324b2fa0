import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { errors } from "../model/mod.ts";

interface ProbeResult {
  readonly status: number;
  /** The start of the body, at most 4 KiB. */
  readonly body: string;
}

/** The address at which the server of this host listens. */
interface ProbeTarget {
  /** Address or name to connect to. */
  readonly host: string;
  readonly port: number;
  /** Whether it speaks HTTPS; the certificate is not verified, since it names no loopback address. */
  readonly tls: boolean;
  readonly path: string;
  /** Longest time for everything, in milliseconds. */
  readonly timeoutMs: number;
}

/** The request of the `healthcheck` command. */
export function healthTarget(
  { host = "0.0.0.0", port, tls }: { host?: string; port: number; tls: boolean },
): ProbeTarget {
  return { host: reachable(host), port, tls, path: "/v1/health", timeoutMs: 5_000 };
}

/** The address at which this host reaches a server that listens on `host`; loopback for a wildcard. */
export function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}

const MOST_BODY = 4096;

function isLoopback(host: string): boolean {
  return host === "127.0.0.1" || host === "::1";
}

/**
 * Asks the server on this host with GET. Any status is a result.
 *
 * Throws `unhealthy` when it cannot be reached, and `timeout` when it does not answer in time.
 */
export function probe(target: ProbeTarget): Promise<ProbeResult> {
  const { host, port, tls, path, timeoutMs } = target;
  const name = isLoopback(host) ? "localhost" : host.includes(":") ? `[${host}]` : host;
  const url = `${tls ? "https" : "http"}://${name}:${port}${path}`;
  return new Promise((resolve, reject) => {
    const place = { host, port, path, headers: { host: `${name}:${port}` } };
    const request = tls
      ? requestSecure({ ...place, rejectUnauthorized: false, agent: false })
      : requestPlain({ ...place, agent: false });
    const timer = setTimeout(() => {
      const message = `GET ${url} was not answered within ${timeoutMs} ms`;
      reject(errors.timeout(message));
      request.destroy();
    }, timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      const message = `GET ${url} failed: ${error.message}; is Stackwright running?`;
      reject(errors.unhealthy(message, { cause: error }));
    };
    request.on("error", fail);
    request.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => body = (body + text).slice(0, MOST_BODY));
      response.on("error", fail);
      response.on("end", () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    request.end();
  });
}
