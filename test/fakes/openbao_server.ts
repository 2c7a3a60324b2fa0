import { type JsonReply, type JsonServer, startJsonServer } from "./json_server.ts";

/** An OpenBao with key-value engines. */
export interface OpenBaoServer extends JsonServer {
  /** Writes a secret of an engine. */
  write(path: string, value: Readonly<Record<string, unknown>>): void;
}

/** What it starts with. */
export interface OpenBaoServerOptions {
  readonly token: string;
  /** Engines by their path, and their versions. */
  readonly engines: Readonly<Record<string, 1 | 2>>;
  /** Namespace that requests must name; none by default. */
  readonly namespace?: string;
  /** Whether the token may ask which version an engine has. */
  readonly mayAskMounts?: boolean;
}

/** Starts an OpenBao on loopback. */
export async function startOpenBaoServer(options: OpenBaoServerOptions): Promise<OpenBaoServer> {
  const secrets = new Map<string, Readonly<Record<string, unknown>>>();
  const missing: JsonReply = { status: 404, value: { errors: [] } };
  const server = await startJsonServer(({ method, url, headers }) => {
    if (headers["x-vault-token"] !== options.token) {
      return { status: 403, value: { errors: ["permission denied"] } };
    }
    if ((headers["x-vault-namespace"] ?? "") !== (options.namespace ?? "")) return missing;
    if (method !== "GET" || !url.pathname.startsWith("/v1/")) return { status: 405 };
    const path = decodeURIComponent(url.pathname.slice("/v1/".length));
    const mount = /^sys\/internal\/ui\/mounts\/(.+)$/.exec(path)?.[1];
    if (mount !== undefined) return mountReply(options, mount);
    const engine = Object.keys(options.engines).find((each) => path.startsWith(`${each}/`));
    if (engine === undefined) return missing;
    const rest = path.slice(engine.length + 1);
    if (options.engines[engine] === 1) {
      const value = secrets.get(`${engine}/${rest}`);
      return value === undefined ? missing : { status: 200, value: { data: value } };
    }
    const value = rest.startsWith("data/")
      ? secrets.get(`${engine}/${rest.slice("data/".length)}`)
      : undefined;
    if (value === undefined) return missing;
    return { status: 200, value: { data: { data: value, metadata: { version: 1 } } } };
  });
  return { ...server, write: (path, value) => void secrets.set(path, value) };
}

function mountReply(
  { engines, mayAskMounts = true }: OpenBaoServerOptions,
  mount: string,
): JsonReply {
  const version = engines[mount];
  if (!mayAskMounts || version === undefined) {
    return { status: 403, value: { errors: ["preflight capability check returned 403"] } };
  }
  const kind = version === 2 ? { options: { version: "2" } } : { options: null };
  return { status: 200, value: { data: { type: "kv", path: `${mount}/`, ...kind } } };
}
