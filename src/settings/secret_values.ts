import { secretsOfProvider } from "../config/mod.ts";
import type { Settings } from "./settings.ts";

/**
 * Every text of the settings that must never be shown, for the redactor: keys, tokens, passphrases
 * and the passwords inside URLs. Values of inline `environment` are not among them, because most
 * are ordinary words.
 */
export function secretValues(settings: Settings): string[] {
  const { git, proxy, sops } = settings;
  const urls = [
    proxy.http,
    proxy.https,
    ...settings.polls.map((poll) => poll.request.url),
    ...Object.values(git.urlRewrites),
    ...settings.polls.flatMap((poll) =>
      poll.request.deployments.map((each) => each.deployment.repositoryUrl)
    ),
  ];
  const values = [
    settings.apiSecret,
    settings.webhookSecret,
    ...(sops.ageKey ?? "").split(/\s+/).filter((word) => word.startsWith("AGE-")),
    git.accessToken,
    git.sshPrivateKey,
    git.sshPrivateKeyPassphrase,
    git.app?.privateKey,
    ...git.domains.flatMap((domain) => [
      domain.accessToken,
      domain.sshPrivateKey,
      domain.sshPrivateKeyPassphrase,
      domain.app?.privateKey,
    ]),
    ...(settings.secretProvider === undefined ? [] : secretsOfProvider(settings.secretProvider)),
    ...urls.flatMap(passwords),
  ];
  return [...new Set(values.filter((value) => value !== undefined && value !== ""))] as string[];
}

/** The password of a URL, as it is written and decoded; a lone user name may be a token too. */
function passwords(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { username, password, protocol } = new URL(url);
  // `git@` over SSH is everybody's user name.
  const secret = password === "" && protocol.startsWith("http") ? username : password;
  return [secret, decoded(secret)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
