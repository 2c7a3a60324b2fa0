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

/** The settings' credentials for Git repositories, in the form the source needs. */
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
 * The hosts that the operator polls or rewrites URLs to: by default, only these get the global
 * token. Each with its port, as another port may be somebody else's server. For a host that is
 * polled by SSH, the port is that of HTTPS.
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

/** The port at which a host gets the token; over plain HTTP tokens only go to this very machine. */
function tokenPort(port: string, scheme: RepositoryScheme): string {
  if (scheme === "ssh") return "443";
  return port || (scheme === "http" ? "80" : "443");
}
