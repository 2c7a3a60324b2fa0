import type { Files, Redactor } from "../../system/mod.ts";
import type { GitCredentials, GitHubApp } from "./credentials.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Options for reaching remotes, besides credentials. The operator sets the proxies and files. */
export interface AccessOptions {
  /** Beginning of the path of the directory for keys; best on a tmpfs. */
  readonly temporaryPrefix: string;
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
  /** File of certificates to trust instead of the system's; empty for the system's. */
  readonly caFile: string;
  /** File of the only trusted SSH host keys; empty for trust on first use, kept in the data directory. */
  readonly knownHostsFile: string;
  /** Makes a short-lived token for one repository. */
  readonly githubToken:
    | ((app: GitHubApp, url: RepositoryUrl, signal: AbortSignal) => Promise<string>)
    | undefined;
}

/** Dependencies of the access to remotes. */
export interface AccessParts {
  readonly files: Files;
  readonly redactor: Redactor;
  readonly dataDir: string;
  /** Another data directory, whose `known_hosts` is read as well. */
  readonly lender?: string | undefined;
  readonly credentials: GitCredentials;
  readonly options: AccessOptions;
}
