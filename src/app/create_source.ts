import type { Settings } from "../settings/mod.ts";
import { createGitHubTokens, createGitSource, type GitSourceWithTrees } from "../source/mod.ts";
import { type HttpClient, scratchPrefix } from "../system/mod.ts";
import { gitCredentials } from "./git_credentials.ts";
import type { System } from "./system.ts";

/**
 * Makes the source of Git repositories from the settings. With a `scratchDir`, mirrors and trees go
 * there, and the data directory's trees serve where a commit cannot be fetched any more.
 */
export function createSource(
  settings: Settings,
  system: System,
  http: HttpClient,
  scratchDir: string | undefined,
): GitSourceWithTrees {
  const { git, proxy, data: { dir } } = settings;
  const { clock, redactor } = system;
  const tokens = createGitHubTokens({ http, clock, redactor });
  return createGitSource({
    commands: system.commands,
    files: system.files,
    clock: system.clock,
    redactor: system.redactor,
    log: system.log,
    ...(scratchDir === undefined ? { dataDir: dir } : { dataDir: scratchDir, lender: dir }),
    credentials: gitCredentials(settings),
    options: {
      temporaryPrefix: scratchPrefix("git"),
      http,
      submodules: git.cloneSubmodules,
      mostBytes: git.maxBytes,
      mostProcessorSeconds: git.maxCpuSeconds,
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
