import type { Files, Redactor } from "../../system/mod.ts";
import type { GitCredentials, GitHubApp } from "./credentials.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Options of reaching remotes, besides credentials. Proxies and files are the operator's own. */
export interface AccessOptions {
  /** How the path of the private directory begins; best on a tmpfs. */
  readonly temporaryPrefix: string;
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
  /** Certificates to trust instead of the system's; empty for those. */
  readonly caFile: string;
  /** SSH host keys that alone are trusted; empty for trust on first use, kept in the data directory. */
  readonly knownHostsFile: string;
  /** Makes a short-lived token for one repository. */
  readonly githubToken:
    | ((app: GitHubApp, url: RepositoryUrl, signal: AbortSignal) => Promise<string>)
    | undefined;
}

/** Parts of the access to remotes. */
export interface AccessParts {
  readonly files: Files;
  readonly redactor: Redactor;
  readonly dataDir: string;
  /** Another data directory, whose hosts are known as well. */
  readonly lender?: string | undefined;
  readonly credentials: GitCredentials;
  readonly options: AccessOptions;
}
