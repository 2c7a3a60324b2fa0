import { isLoopback } from "../../system/mod.ts";
import { DEFAULT_PORTS, type RepositoryUrl } from "./repository_url.ts";

/** A GitHub App that makes short-lived tokens. */
export interface GitHubApp {
  readonly appId: string;
  readonly privateKey: string;
  /** Empty to look the installation up for each repository. */
  readonly installationId: string;
}

/** Credentials for some hosts, one entry of `GIT_AUTH_DOMAINS`. Absent parts are not inherited. */
export interface DomainCredentials {
  /** Host names, or `*.suffix`, which does not match the suffix itself; with `:port` for that port alone. */
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
  /** Credentials for hosts without an entry. Their token goes only to {@link tokenHosts}. */
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

/** User name that goes with a token when neither the URL nor the settings give one. */
export const DEFAULT_TOKEN_USER = "oauth2";

/**
 * Decides how to log in to a repository. User information in the URL wins for http; then the entry
 * with the exact host and port, the one with the host, the one with the longest `*.suffix`, the
 * global credentials. An entry that lacks what the scheme needs does not fall back to the global ones.
 *
 * A token never goes over plain http to another machine, and the global one only to hosts that the
 * operator configured: repository authors choose the URLs of other repositories and submodules.
 */
export function resolveLogin(url: RepositoryUrl, credentials: GitCredentials): GitLogin {
  if (url.scheme === "file") return { kind: "none" };
  const entry = findDomain(url, credentials.domains);
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

/** The entry that is responsible for the host and port of a URL, if any. */
export function findDomain(
  url: RepositoryUrl,
  domains: readonly DomainCredentials[],
): DomainCredentials | undefined {
  let best: DomainCredentials | undefined;
  let nearest = 0;
  for (const entry of domains) {
    for (const domain of entry.domains) {
      const near = nearness(url, domain.trim().toLowerCase());
      if (near > nearest) [best, nearest] = [entry, near];
    }
  }
  return best;
}

/** How exactly an entry names a host: with its port, without, or by a suffix; 0 for no match. */
function nearness(url: RepositoryUrl, domain: string): number {
  const names = [url.host, withPort(url)];
  if (names.includes(domain)) return LONGEST_NAME + domain.length;
  const isSuffix = domain.startsWith("*.") && names.some((each) => each.endsWith(domain.slice(1)));
  return isSuffix ? domain.length : 0;
}

/** More characters than any suffix has, so that whole names win over suffixes. */
const LONGEST_NAME = 10_000;

function isTokenHost(url: RepositoryUrl, hosts: readonly string[]): boolean {
  const names = [url.host, withPort(url)];
  return hosts.some((each) => names.includes(each.trim().toLowerCase()));
}

function withPort({ scheme, host, port }: RepositoryUrl): string {
  return `${host}:${port || DEFAULT_PORTS[scheme]}`;
}
