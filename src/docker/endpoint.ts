import { errors, type StackwrightError } from "../model/mod.ts";

/** An engine's address. */
export type EngineEndpoint =
  | { readonly kind: "unix"; readonly socketPath: string }
  | {
    readonly kind: "tcp";
    readonly host: string;
    readonly port: number;
    /** Absent for plain HTTP. */
    readonly tls?: EndpointTls;
  }
  | SshEndpoint;

/** An engine on a machine reached by SSH, through `docker system dial-stdio` there. */
export interface SshEndpoint {
  readonly kind: "ssh";
  readonly host: string;
  readonly port?: number;
  readonly user?: string;
  /** The engine's socket on that machine; by default that of its command line. */
  readonly socketPath?: string;
}

/** TLS towards an engine. The engine's certificate is always verified. */
export interface EndpointTls {
  /** Directory of `ca.pem`, `cert.pem` and `key.pem`; absent: public authorities, no own key. */
  readonly certificates?: string;
  /** Files to read from that directory; all three by default. */
  readonly files?: readonly string[];
}

/** Variables that describe an engine, as in docker's command line. */
export type EngineEnvironment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SOCKET = "/var/run/docker.sock";

const PLAIN_PORT = 2375;
/** The usual port of engines with TLS. */
export const TLS_PORT = 2376;

/**
 * Parses an engine's address: `unix:///path`, `tcp://host[:port]`, `http://`, `https://` or
 * `ssh://[user@]host[:port][/path]`; empty is the default socket. `DOCKER_TLS_VERIFY` or
 * `DOCKER_CERT_PATH` in `env` turn TLS on for `tcp`; certificates come from `DOCKER_CERT_PATH`,
 * else from `~/.docker`.
 *
 * Throws `settings_invalid` for any other scheme, for passwords, and for users and paths without
 * SSH.
 */
export function parseEndpoint(host: string, env: EngineEnvironment = {}): EngineEndpoint {
  const text = host.trim();
  if (text === "") return { kind: "unix", socketPath: DEFAULT_SOCKET };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "unix") return unixEndpoint(text.slice("unix://".length));
  if (scheme === "tcp" || scheme === "http" || scheme === "https") {
    return tcpEndpoint(scheme, text, env);
  }
  if (scheme === "ssh") return sshEndpoint(text);
  throw invalid(scheme === undefined ? "it has no scheme" : `${scheme}:// is not supported`);
}

/** An endpoint for people: `unix:///var/run/docker.sock`, `tcp://host:2376 (TLS)`. */
export function describeEndpoint(endpoint: EngineEndpoint): string {
  if (endpoint.kind === "unix") return `unix://${endpoint.socketPath}`;
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
  if (endpoint.kind === "ssh") {
    const { socketPath = "" } = endpoint;
    const user = endpoint.user === undefined ? "" : `${endpoint.user}@`;
    const port = endpoint.port === undefined ? "" : `:${endpoint.port}`;
    return `ssh://${user}${host}${port}${socketPath}`;
  }
  return `tcp://${host}:${endpoint.port}${endpoint.tls === undefined ? "" : " (TLS)"}`;
}

function unixEndpoint(socketPath: string): EngineEndpoint {
  if (!socketPath.startsWith("/")) throw invalid("the path of the socket is not absolute");
  return { kind: "unix", socketPath };
}

function tcpEndpoint(scheme: string, text: string, env: EngineEnvironment): EngineEndpoint {
  const url = parseUrl(text.replace(/^[a-z]+:/i, "ws:"));
  if (url.username !== "" || url.password !== "") throw invalid("it contains user information");
  if (url.pathname !== "/" && url.pathname !== "") throw invalid("it has a path after the port");
  if (url.hostname === "") throw invalid("it has no host");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const tls = scheme === "http" ? undefined : tlsOf(env) ?? (scheme === "https" ? {} : undefined);
  const port = explicitPort(text) ?? defaultPort(scheme, tls !== undefined);
  return { kind: "tcp", host, port, ...(tls === undefined ? {} : { tls }) };
}

function sshEndpoint(text: string): SshEndpoint {
  const url = parseUrl(text.replace(/^ssh:/i, "ws:"));
  if (url.password !== "") throw invalid("it contains a password; use a key");
  if (url.search !== "" || url.hash !== "") throw invalid("it has more than a path");
  // The path becomes a word for the shell of that machine.
  if (!/^[\w./+@%-]*$/.test(url.pathname)) throw invalid("its path is not one of plain letters");
  const port = /:(\d+)(?:\/|$)/.exec(text.slice("ssh://".length).replace(/^.*@/, ""))?.[1];
  return {
    kind: "ssh",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(url.username === "" ? {} : { user: decodeURIComponent(url.username) }),
    ...(url.pathname === "/" || url.pathname === "" ? {} : { socketPath: url.pathname }),
  };
}

/** The port in the text: a URL drops its scheme's default port. */
function explicitPort(text: string): number | undefined {
  const port = /:(\d+)\/?$/.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
}

function defaultPort(scheme: string, tls: boolean): number {
  if (scheme === "http") return 80;
  if (scheme === "https") return 443;
  return tls ? TLS_PORT : PLAIN_PORT;
}

function tlsOf(env: EngineEnvironment): EndpointTls | undefined {
  const certificates = env["DOCKER_CERT_PATH"] ?? "";
  if (certificates !== "") return { certificates };
  if ((env["DOCKER_TLS_VERIFY"] ?? "") === "") return undefined;
  const home = env["DOCKER_CONFIG"] ?? (env["HOME"] === undefined ? "" : `${env["HOME"]}/.docker`);
  return home === "" ? {} : { certificates: home };
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw invalid("it is no address");
  }
}

/** The error for an address, without the address itself, which may hold a password. */
function invalid(why: string): StackwrightError {
  return errors.settings_invalid(
    `the engine address (DOCKER_HOST, or a context's) cannot be used: ${why}; ` +
      "expected unix:///path, tcp://host:port, http://host:port, https://host:port or ssh://user@host",
  );
}
