import type { GitSettings, Settings } from "../settings/mod.ts";
import {
  type DomainCredentials,
  type GitCredentials,
  type GitHubApp,
  parseRepositoryUrl,
  type RepositoryScheme,
  rewriteHosts,
  rewriteUrl,
} from "../source/mod.ts";

/** The settings for reaching Git repositories, as the source wants it. */
export function gitCredentials(settings: Settings): GitCredentials {
  const { git } = settings;
  return {
    domains: git.domains.map((each) => ({ domains: each.domains, ...credentials(each) })),
    global: credentials(git),
    tokenHosts: git.accessTokenHosts ?? polledHosts(settings),
  };
}

type Given = Pick<
  GitSettings,
  | "accessToken"
  | "accessTokenUser"
  | "app"
  | "skipTlsVerification"
  | "sshPrivateKey"
  | "sshPrivateKeyPassphrase"
>;

function credentials(given: Given): Omit<DomainCredentials, "domains"> {
  const { accessToken, accessTokenUser, skipTlsVerification: insecureSkipTls } = given;
  const { sshPrivateKey, sshPrivateKeyPassphrase } = given;
  return {
    ...(accessToken === undefined ? {} : { accessToken, accessTokenUser }),
    ...(sshPrivateKey === undefined ? {} : { sshPrivateKey }),
    ...(sshPrivateKeyPassphrase === undefined ? {} : { sshPrivateKeyPassphrase }),
    ...appOf(given),
    ...(insecureSkipTls ? { insecureSkipTls } : {}),
  };
}

function appOf({ app }: Pick<GitSettings, "app">): { readonly githubApp?: GitHubApp } {
  if (app === undefined) return {};
  const { id, privateKey, installationId } = app;
  return { githubApp: { appId: id, privateKey, installationId } };
}

/**
 * The hosts the operator polls, or leads other URLs to: the only ones a global token is meant for
 * unless he says otherwise. Each with its port: what listens on another one is somebody else's. Who
 * polls by SSH gets the token where that host serves HTTPS.
 */
function polledHosts(settings: Settings): string[] {
  const { urlRewrites } = settings.git;
  const hosts = settings.polls.filter((each) => each.request.kind === "git")
    .map(({ request }) => rewriteUrl(request.url, urlRewrites) ?? request.url)
    .map((url) => parseRepositoryUrl(url)).filter(({ scheme }) => scheme !== "file")
    .map(({ host, port, scheme }) => `${host}:${tokenPort(port, scheme)}`);
  const led = rewriteHosts(urlRewrites)
    .flatMap((host) => /:\d+$/.test(host) ? [host] : [`${host}:443`, `${host}:80`]);
  return [...new Set([...hosts, ...led])];
}

/** Over plain HTTP a token only ever goes to this very machine. */
function tokenPort(port: string, scheme: RepositoryScheme): string {
  if (scheme === "ssh") return "443";
  return port || (scheme === "http" ? "80" : "443");
}
