import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import process from "node:process";

/** One request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  /** Value of the `Authorization` header, empty without one. */
  readonly authorization: string;
}

/** What a fake Git server does. */
export interface GitHttpOptions {
  /** Directory with bare repositories. */
  readonly root: string;
  /** `user:password` that every request needs; without it everybody may read. */
  readonly login?: string;
  /**
   * The same for several: each `user:password`, with the references that are hidden from it, as hosts do
   * that decide by branch.
   */
  readonly logins?: Readonly<Record<string, readonly string[]>>;
  /** Whether protocol 2 is unknown: by it git gives every object to who names its id, hidden or not. */
  readonly isOld?: boolean;
  /** Address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** Answers a request instead of git, for example with a redirect or an error. */
  readonly intercept?: (request: SeenRequest) => GitHttpAnswer | undefined;
}

/** An answer without git. */
export interface GitHttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A running Git server for http on the loopback interface. */
export interface GitHttpServer {
  readonly port: number;
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** Serves repositories through git's own `http-backend`. */
export async function startGitHttpServer(options: GitHttpOptions): Promise<GitHttpServer> {
  const seen: SeenRequest[] = [];
  const { host = "127.0.0.1" } = options;
  const server = createServer((request, response) => {
    const one: SeenRequest = {
      method: request.method ?? "",
      url: request.url ?? "",
      authorization: request.headers.authorization ?? "",
    };
    seen.push(one);
    const answer = options.intercept?.(one) ?? refuse(one, options);
    if (answer === undefined) return serve(options.root, request, response, envOf(one, options));
    request.resume();
    response.writeHead(answer.status, answer.headers ?? {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    origin: `http://${host}:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(
  { authorization }: SeenRequest,
  { login, logins = login === undefined ? {} : { [login]: [] } }: GitHttpOptions,
): GitHttpAnswer | undefined {
  const all = Object.keys(logins);
  if (all.length === 0 || all.some((each) => authorization === basic(each))) return undefined;
  return { status: 401, headers: { "www-authenticate": 'Basic realm="git"' } };
}

function basic(login: string): string {
  return `Basic ${Buffer.from(login).toString("base64")}`;
}

/** What differs for who asks, in git's environment. */
function envOf(
  { authorization }: SeenRequest,
  { logins = {}, isOld = false }: GitHttpOptions,
): Record<string, string> {
  const [, hidden = []] = Object.entries(logins).find(([each]) => basic(each) === authorization) ??
    [];
  const settings = hidden.flatMap((name, index) => [
    [`GIT_CONFIG_KEY_${index}`, "transfer.hideRefs"],
    [`GIT_CONFIG_VALUE_${index}`, name],
  ]);
  return {
    GIT_CONFIG_COUNT: String(hidden.length),
    ...Object.fromEntries(settings),
    ...(isOld ? { GIT_PROTOCOL: "" } : {}),
  };
}

/** Answers one request through git's own `http-backend`, with more in its environment. */
export function serve(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  env: Readonly<Record<string, string>> = {},
): void {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_ADDR: "127.0.0.1",
      ...env,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  backend.on("close", () => answer(Buffer.concat(chunks), response));
  backend.stdin.on("error", () => {});
  request.on("data", (chunk: Uint8Array) => backend.stdin.write(chunk));
  request.on("end", () => backend.stdin.end());
}

/** Turns the output of a CGI program into an answer. */
function answer(output: Buffer, response: ServerResponse): void {
  const split = output.indexOf("\r\n\r\n");
  const headers = new Map<string, string>();
  for (const line of output.subarray(0, Math.max(split, 0)).toString().split("\r\n")) {
    const [name = "", value = ""] = line.split(/: (.*)/s);
    if (name !== "") headers.set(name.toLowerCase(), value);
  }
  const status = Number((headers.get("status") ?? "200").slice(0, 3));
  headers.delete("status");
  response.writeHead(status, Object.fromEntries(headers)).end(output.subarray(split + 4));
}
