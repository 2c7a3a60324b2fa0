import type { GitSettings, Settings } from "../settings/mod.ts";
import {
  type DomainCredentials,
  type GitCredentials,
  type GitHubApp,
  parseRepositoryUrl,
  rewriteHosts,
  rewriteUrl,
} from "../source/mod.ts";

/** What the settings say about reaching Git repositories, as the source wants it. */
export function gitCredentials(settings: Settings): GitCredentials {
  const { git } = settings;
  return {
    domains: git.domains.map((domain) => ({
      domains: domain.domains,
      ...credentials(domain),
      ...appOf(domain),
      ...(domain.skipTlsVerification ? { insecureSkipTls: true } : {}),
    })),
    global: {
      ...credentials(git),
      ...appOf(git),
      ...(git.skipTlsVerification ? { insecureSkipTls: true } : {}),
    },
    tokenHosts: git.accessTokenHosts ?? polledHosts(settings),
  };
}

type Given = Pick<
  GitSettings,
  "accessToken" | "accessTokenUser" | "sshPrivateKey" | "sshPrivateKeyPassphrase"
>;

function credentials(given: Given): Omit<DomainCredentials, "domains"> {
  const { accessToken, accessTokenUser, sshPrivateKey, sshPrivateKeyPassphrase } = given;
  return {
    ...(accessToken === undefined ? {} : { accessToken, accessTokenUser }),
    ...(sshPrivateKey === undefined ? {} : { sshPrivateKey }),
    ...(sshPrivateKeyPassphrase === undefined ? {} : { sshPrivateKeyPassphrase }),
  };
}

function appOf({ app }: Pick<GitSettings, "app">): { readonly githubApp?: GitHubApp } {
  if (app === undefined) return {};
  const { id, privateKey, installationId } = app;
  return { githubApp: { appId: id, privateKey, installationId } };
}

/**
 * The hosts the operator polls, or leads other URLs to: the only ones a global token is meant for
 * unless he says otherwise.
 */
function polledHosts(settings: Settings): string[] {
  const { urlRewrites } = settings.git;
  const hosts = settings.polls.filter((each) => each.request.kind === "git")
    .map(({ request }) => rewriteUrl(request.url, urlRewrites) ?? request.url)
    .map((url) => parseRepositoryUrl(url).host);
  return [...new Set([...hosts, ...rewriteHosts(urlRewrites)])].filter((host) => host !== "");
}
