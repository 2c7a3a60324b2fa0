import type { GitSettings, Settings } from "../settings/mod.ts";
import { type DomainCredentials, type GitCredentials, parseRepositoryUrl } from "../source/mod.ts";

/** What the settings say about reaching Git repositories, as the source wants it. */
export function gitCredentials(settings: Settings): GitCredentials {
  const { git } = settings;
  return {
    domains: git.domains.map((domain) => ({
      domains: domain.domains,
      ...credentials(domain),
      ...(domain.app === undefined ? {} : {
        githubApp: {
          appId: domain.app.id,
          privateKey: domain.app.privateKey,
          installationId: domain.app.installationId,
        },
      }),
      ...(domain.skipTlsVerification ? { insecureSkipTls: true } : {}),
    })),
    global: { ...credentials(git), ...(git.skipTlsVerification ? { insecureSkipTls: true } : {}) },
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

/** The hosts the operator polls: the only ones a global token is meant for unless he says otherwise. */
function polledHosts(settings: Settings): string[] {
  const hosts = settings.polls.filter((each) => each.request.kind === "git")
    .map((each) => parseRepositoryUrl(each.request.url).host);
  return [...new Set(hosts)].filter((host) => host !== "");
}
