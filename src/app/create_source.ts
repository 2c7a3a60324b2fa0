import type { Settings } from "../settings/mod.ts";
import { createGitHubTokens, createGitSource, type GitSourceWithTrees } from "../source/mod.ts";
import { type HttpClient, scratchPrefix } from "../system/mod.ts";
import { gitCredentials } from "./git_credentials.ts";
import type { System } from "./system.ts";

/** The source of Git repositories, as the settings say. */
export function createSource(
  settings: Settings,
  system: System,
  { http, ...directories }: {
    readonly http: HttpClient;
    readonly dataDir: string;
    readonly lender?: string;
  },
): GitSourceWithTrees {
  const { git, proxy } = settings;
  const { clock, redactor } = system;
  const tokens = createGitHubTokens({ http, clock, redactor });
  return createGitSource({
    commands: system.commands,
    files: system.files,
    clock: system.clock,
    redactor: system.redactor,
    log: system.log,
    ...directories,
    credentials: gitCredentials(settings),
    options: {
      temporaryPrefix: scratchPrefix("git"),
      http,
      submodules: git.cloneSubmodules,
      mostBytes: git.maxBytes,
      rewrites: git.urlRewrites,
      githubToken: (app, url, signal) => tokens.token(app, url, signal),
      httpProxy: proxy.http ?? "",
      httpsProxy: proxy.https ?? proxy.http ?? "",
      noProxy: proxy.noProxy.join(","),
      ...(git.sshKnownHostsFile === undefined ? {} : { knownHostsFile: git.sshKnownHostsFile }),
      ...(system.env["PATH"] === undefined ? {} : { path: system.env["PATH"] }),
      ...(system.env["SSL_CERT_FILE"] === undefined ? {} : { caFile: system.env["SSL_CERT_FILE"] }),
    },
  });
}
