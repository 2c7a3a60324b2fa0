import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A request as a fake store sees it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a fake store answers. */
export interface JsonReply {
  readonly status: number;
  readonly value?: unknown;
  /** Instead of `value`, as it is. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Something a store may do instead of its work. */
export type Fault = JsonReply | "hang" | "drop";

/** A server on loopback that speaks JSON. */
export interface JsonServer {
  readonly origin: string;
  /** Every request so far, refused ones included. */
  readonly requests: readonly SeenRequest[];
  /** Answers requests whose path matches with a fault, `times` times; `undefined` ends it. */
  fail(fault: Fault | undefined, options?: { path?: RegExp; times?: number }): void;
  close(): Promise<void>;
}

/** Starts a server; `tls` makes it speak HTTPS. */
export async function startJsonServer(
  answer: (request: SeenRequest) => JsonReply,
  tls?: { readonly key: string; readonly cert: string },
): Promise<JsonServer> {
  const requests: SeenRequest[] = [];
  let broken: { fault: Fault; path: RegExp; times: number } | undefined;
  let origin = "";
  const listener = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await seen(incoming, origin);
    requests.push(request);
    if (broken !== undefined && broken.times > 0 && broken.path.test(request.url.pathname)) {
      broken.times--;
      if (broken.fault === "hang") return;
      if (broken.fault === "drop") return void incoming.socket.destroy();
      return send(response, broken.fault);
    }
    send(response, answer(request));
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `${tls === undefined ? "http" : "https"}://127.0.0.1:${
    (server.address() as AddressInfo).port
  }`;
  return {
    origin,
    requests,
    fail(fault, { path = /./, times = Number.POSITIVE_INFINITY } = {}) {
      broken = fault === undefined ? undefined : { fault, path, times };
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function seen(incoming: IncomingMessage, origin: string): Promise<SeenRequest> {
  let body = "";
  for await (const chunk of incoming) body += chunk;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  return {
    method: incoming.method ?? "",
    url: new URL(`${origin}${incoming.url ?? "/"}`),
    headers,
    body,
  };
}

function send(response: ServerResponse, { status, value, text, headers }: JsonReply): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text ?? (value === undefined ? "" : JSON.stringify(value)));
}
