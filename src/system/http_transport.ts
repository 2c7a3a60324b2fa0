import type { HttpRequest } from "./http_request.ts";
import { type Proxies, proxyFor } from "./proxy_for.ts";

interface Transport {
  fetch(request: HttpRequest, signal: AbortSignal): Promise<Response>;
  close(): void;
}

/** The runtime's own fetch; proxies and certificates are given to it in each runtime's manner. */
export function createTransport({ proxy, caCertificates }: HttpClientOptions): Transport {
  const clients = new Map<string, Deno.HttpClient>();
  const denoClient = (through: string | undefined) =>
    clients.getOrInsertComputed(through ?? "", () =>
      Deno.createHttpClient({
        ...(through === undefined ? {} : { proxy: denoProxy(through) }),
        ...(caCertificates === undefined ? {} : { caCerts: [caCertificates] }),
      }));
  return {
    fetch({ url, method, headers, body }, signal) {
      const through = proxyFor(new URL(url), proxy);
      // Bun decompresses what has come before anybody reads it: a few kilobytes become gigabytes.
      const own = "Deno" in globalThis ? { client: denoClient(through) } : {
        decompress: false,
        ...(through === undefined ? {} : { proxy: through }),
        ...(caCertificates === undefined ? {} : { tls: { ca: caCertificates } }),
      };
      const sent = body === undefined ? {} : { body };
      const asked = { "accept-encoding": "identity", ...headers };
      return fetch(url, { method, headers: asked, redirect: "manual", signal, ...sent, ...own });
    },
    close() {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

/** A proxy for Deno, which takes user and password apart from the URL. */
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

/** Options of how a client reaches other servers. */
export interface HttpClientOptions {
  /** Longest time for one request and its answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Largest body of an answer, in bytes; no compressed one is asked for, nor read. */
  readonly maxBytes?: number;
  /** Proxies by the scheme of the URL, and hosts that are reached without. */
  readonly proxy?: Proxies;
  /** Certificates in PEM form that are trusted beside the usual ones. */
  readonly caCertificates?: string | undefined;
}
