import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { StackwrightError } from "../model/mod.ts";

/** What a server answered. */
export interface ProbeResult {
  /** HTTP status. */
  readonly status: number;
  /** The start of the body, at most 4 KiB. */
  readonly body: string;
}

/** Where the server of this host listens. */
export interface ProbeTarget {
  readonly port: number;
  /** Whether it speaks HTTPS; the certificate is not verified, since it names no loopback address. */
  readonly tls: boolean;
  readonly path: string;
  /** Longest time for everything, in milliseconds. */
  readonly timeoutMs: number;
}

/** The question of the `healthcheck` command (http.md §2.2). */
export function healthTarget(listening: { port: number; tls: boolean }): ProbeTarget {
  return { ...listening, path: "/v1/health", timeoutMs: 5_000 };
}

const MOST_BODY = 4096;

/**
 * Asks the server on this host with GET. Any status is a result.
 *
 * Throws `unhealthy` when it cannot be reached, and `timeout` when it does not answer in time.
 */
export function probe(target: ProbeTarget): Promise<ProbeResult> {
  const { port, tls, path, timeoutMs } = target;
  const url = `${tls ? "https" : "http"}://localhost:${port}${path}`;
  return new Promise((resolve, reject) => {
    // The server listens on IPv4; `localhost` may mean something else first.
    const place = { host: "127.0.0.1", port, path, headers: { host: `localhost:${port}` } };
    const request = tls
      ? requestSecure({ ...place, rejectUnauthorized: false, agent: false })
      : requestPlain({ ...place, agent: false });
    const timer = setTimeout(() => {
      const message = `GET ${url} was not answered within ${timeoutMs} ms`;
      reject(new StackwrightError("timeout", message));
      request.destroy();
    }, timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      const message = `GET ${url} failed: ${error.message}; is Stackwright running?`;
      reject(new StackwrightError("unhealthy", message, { cause: error }));
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
