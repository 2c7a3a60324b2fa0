import { StackwrightError } from "../model/mod.ts";

/** Where an engine listens. */
export type EngineEndpoint =
  | { readonly kind: "unix"; readonly socketPath: string }
  | {
    readonly kind: "tcp";
    readonly host: string;
    readonly port: number;
    /** Absent: plain HTTP. */
    readonly tls?: EndpointTls;
  };

/** TLS towards an engine. The engine's certificate is always verified. */
export interface EndpointTls {
  /** Directory with `ca.pem`, `cert.pem` and `key.pem`; absent: public authorities, no client certificate. */
  readonly certificates?: string;
}

/** The variables that describe an engine, as the engine's own command line reads them. */
export type EngineEnvironment = Readonly<Record<string, string | undefined>>;

/** Where the engine listens when nothing else is said. */
const DEFAULT_SOCKET = "/var/run/docker.sock";

const PLAIN_PORT = 2375;
const TLS_PORT = 2376;

/**
 * Reads an engine address: `unix:///path`, `tcp://host[:port]`, `http://` or `https://`. An empty
 * one is the default socket. `DOCKER_TLS_VERIFY` or `DOCKER_CERT_PATH` in `env` turn TLS on for
 * `tcp` addresses; certificates come from `DOCKER_CERT_PATH`, else from `~/.docker`.
 *
 * Throws `settings_invalid` for any other scheme, for user information and for paths.
 */
export function parseEndpoint(host: string, env: EngineEnvironment = {}): EngineEndpoint {
  const text = host.trim();
  if (text === "") return { kind: "unix", socketPath: DEFAULT_SOCKET };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "unix") return unixEndpoint(text.slice("unix://".length));
  if (scheme === "tcp" || scheme === "http" || scheme === "https") {
    return tcpEndpoint(scheme, text, env);
  }
  throw invalid(
    scheme === undefined ? "it has no scheme" : `${scheme}:// is not supported`,
  );
}

/** An endpoint for people: `unix:///var/run/docker.sock`, `tcp://host:2376 (TLS)`. */
export function describeEndpoint(endpoint: EngineEndpoint): string {
  if (endpoint.kind === "unix") return `unix://${endpoint.socketPath}`;
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
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

/** From the text: a URL drops a port that is its scheme's default. */
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

/** Says nothing of the address itself: it may hold a password. */
function invalid(why: string): StackwrightError {
  return new StackwrightError(
    "settings_invalid",
    `the engine address (DOCKER_HOST) cannot be used: ${why}; ` +
      "expected unix:///path, tcp://host:port, http://host:port or https://host:port",
  );
}
