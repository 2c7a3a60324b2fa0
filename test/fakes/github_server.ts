import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** One request as the server saw it. */
export interface GitHubCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** Claims of the App's proof; `undefined` when there was none or its signature was wrong. */
  readonly claims: { readonly iat: number; readonly exp: number; readonly iss: string } | undefined;
}

/** A server with the part of GitHub's API that gives an App its tokens. */
export interface GitHubServer {
  readonly origin: string;
  readonly port: number;
  /** Private key of the App, in PEM form. */
  readonly privateKey: string;
  readonly calls: readonly GitHubCall[];
  /** Tokens in the order they were given. */
  readonly tokens: readonly string[];
  /** Answers the next requests with this instead; `undefined` ends that. */
  answerWith(answer: { readonly status: number; readonly body?: unknown } | undefined): void;
  close(): Promise<void>;
}

/** What the server knows. */
export interface GitHubServerOptions {
  readonly appId: string;
  /** Installations by `owner/repository`. */
  readonly installations: Readonly<Record<string, number>>;
  /** When a token given now ends. */
  readonly expiresAt: () => Date;
  /** Serves everything that is not the API, such as Git. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Starts it on the loopback interface; the API is below `/api/v3`. */
export async function startGitHubServer(options: GitHubServerOptions): Promise<GitHubServer> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const calls: GitHubCall[] = [];
  const tokens: string[] = [];
  let forced: { status: number; body?: unknown } | undefined;
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (!path.startsWith("/api/v3/") && options.otherwise !== undefined) {
      return options.otherwise(request, response);
    }
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const call: GitHubCall = {
        method: request.method ?? "",
        path: path.slice("/api/v3".length),
        body: text === "" ? undefined : JSON.parse(text),
        claims: readClaims(request.headers.authorization ?? "", publicKey),
      };
      calls.push(call);
      const { status, body } = forced ?? answer(call, options, tokens);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    privateKey,
    calls,
    tokens,
    answerWith(answer) {
      forced = answer;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(
  call: GitHubCall,
  options: GitHubServerOptions,
  tokens: string[],
): { status: number; body: unknown } {
  if (call.claims?.iss !== options.appId) {
    return { status: 401, body: { message: "A JSON web token could not be decoded" } };
  }
  const repository = /^\/repos\/([^/]+\/[^/]+)\/installation$/.exec(call.path)?.[1];
  if (repository !== undefined && call.method === "GET") {
    const id = options.installations[repository];
    if (id === undefined) return { status: 404, body: { message: "Not Found" } };
    return { status: 200, body: { id } };
  }
  const id = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(call.path)?.[1];
  if (id !== undefined && call.method === "POST") {
    if (!Object.values(options.installations).includes(Number(id))) {
      return { status: 404, body: { message: "Not Found" } };
    }
    const token = `ghs_token${tokens.length}_for_${id}`;
    tokens.push(token);
    return { status: 201, body: { token, expires_at: options.expiresAt().toISOString() } };
  }
  return { status: 404, body: { message: "Not Found" } };
}

function readClaims(header: string, publicKey: string): GitHubCall["claims"] {
  const [head = "", claims = "", signature = ""] = header.replace(/^Bearer /, "").split(".");
  const { alg } = head === "" ? { alg: "" } : JSON.parse(Buffer.from(head, "base64url").toString());
  const text = Buffer.from(`${head}.${claims}`);
  const key = createPublicKey(publicKey);
  const isTrue = verify("RSA-SHA256", text, key, Buffer.from(signature, "base64url"));
  return alg === "RS256" && isTrue
    ? JSON.parse(Buffer.from(claims, "base64url").toString())
    : undefined;
}
