import { DEFAULT_PORTS, type RepositoryUrl } from "./repository_url.ts";

/** A GitHub App that makes short-lived tokens. */
export interface GitHubApp {
  readonly appId: string;
  readonly privateKey: string;
  /** Empty when it is to be looked up per repository. */
  readonly installationId: string;
}

/** Credentials for some hosts, one entry of `GIT_AUTH_DOMAINS`. Absent parts are not inherited. */
export interface DomainCredentials {
  /** Host names, or `*.suffix`, which does not match the suffix itself. */
  readonly domains: readonly string[];
  readonly accessToken?: string;
  readonly accessTokenUser?: string;
  readonly sshPrivateKey?: string;
  readonly sshPrivateKeyPassphrase?: string;
  readonly githubApp?: GitHubApp;
  readonly insecureSkipTls?: boolean;
}

/** Everything the operator gave for reaching Git repositories. */
export interface GitCredentials {
  readonly domains: readonly DomainCredentials[];
  /** What applies to hosts without an entry. Its token goes only to {@link tokenHosts}. */
  readonly global: Omit<DomainCredentials, "domains">;
  /** Hosts that the operator named in the configuration: with `:port`, or without for all ports. */
  readonly tokenHosts: readonly string[];
}

/** A login to one repository. */
export type GitLogin =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | { readonly kind: "github_app"; readonly app: GitHubApp }
  | { readonly kind: "ssh_key"; readonly key: string; readonly passphrase: string };

/** User name that goes with a token when nobody named one. */
export const DEFAULT_TOKEN_USER = "oauth2";

/**
 * Decides how to log in to a repository. User information in the URL wins for http; then the entry
 * with the exact host, the entry with the longest matching `*.suffix`, the global credentials. An
 * entry that matches but lacks what the scheme needs does not fall back to the global ones.
 *
 * A token never goes over plain http to another machine, and the global one only to hosts that the
 * operator configured: repository authors choose the URLs of other repositories and submodules.
 */
export function resolveLogin(url: RepositoryUrl, credentials: GitCredentials): GitLogin {
  if (url.scheme === "file") return { kind: "none" };
  const entry = findDomain(url.host, credentials.domains);
  const chosen = entry ?? credentials.global;
  if (url.scheme === "ssh") {
    const { sshPrivateKey: key = "", sshPrivateKeyPassphrase: passphrase = "" } = chosen;
    return key === "" ? { kind: "none" } : { kind: "ssh_key", key, passphrase };
  }
  if (url.password !== "") return { kind: "password", user: url.user, password: url.password };
  if (url.scheme === "http" && !isLoopback(url.host)) return { kind: "none" };
  if (entry === undefined && !isTokenHost(url, credentials.tokenHosts)) return { kind: "none" };
  const token = chosen.accessToken ?? "";
  if (token !== "") {
    const user = url.user || chosen.accessTokenUser || DEFAULT_TOKEN_USER;
    return { kind: "password", user, password: token };
  }
  if (chosen.githubApp !== undefined) return { kind: "github_app", app: chosen.githubApp };
  // A token alone may be written as the user of the URL.
  return url.user === "" ? { kind: "none" } : { kind: "password", user: url.user, password: "" };
}

/** The entry that is responsible for a host, if any. */
export function findDomain(
  host: string,
  domains: readonly DomainCredentials[],
): DomainCredentials | undefined {
  let best: DomainCredentials | undefined;
  let longest = 0;
  for (const entry of domains) {
    for (const domain of entry.domains.map((each) => each.trim().toLowerCase())) {
      if (domain === host) return entry;
      if (!domain.startsWith("*.") || !host.endsWith(domain.slice(1))) continue;
      if (domain.length <= longest || host.length < domain.length) continue;
      best = entry;
      longest = domain.length;
    }
  }
  return best;
}

function isTokenHost(url: RepositoryUrl, hosts: readonly string[]): boolean {
  const withPort = `${url.host}:${url.port || DEFAULT_PORTS[url.scheme]}`;
  return hosts.some((each) => {
    const host = each.trim().toLowerCase();
    return host === url.host || host === withPort;
  });
}

/** True when a host is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
