import { secretsOfProvider } from "../config/mod.ts";
import { percentDecoded } from "../model/mod.ts";
import type { Settings } from "./settings.ts";
import { SETTINGS_TABLE } from "./settings_table.ts";
import type { Environment, ReadFile } from "./variable_reader.ts";

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
    settings.apiReadSecret,
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

/** A setting as it is written, before anybody knows whether it is right. */
interface WrittenSetting {
  readonly text: string;
  /** Whether all of it is a secret; else it may have some inside. */
  readonly isSecret: boolean;
}

/**
 * The texts of all settings that are secrets or may have them inside, for the redactor, so that what
 * is said about a setting that cannot be read does not repeat it. Files that cannot be read are left out.
 */
export function writtenSettings(environment: Environment, readFile: ReadFile): WrittenSetting[] {
  return SETTINGS_TABLE.filter(({ type }) => ["secret", "URL", "YAML"].includes(type))
    .flatMap(({ name, type, file }) => {
      const path = file ? environment[`${name}_FILE`]?.trim() ?? "" : "";
      const texts = [environment[name] ?? "", path === "" ? "" : textOf(readFile, path)];
      return texts.filter((text) => text.trim() !== "")
        .map((text) => ({ text, isSecret: type === "secret" }));
    });
}

function textOf(readFile: ReadFile, path: string): string {
  try {
    return readFile(path);
  } catch {
    return "";
  }
}

/** The password of a URL, as it is written and decoded; a lone user name may be a token too. */
function passwords(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { username, password, protocol } = new URL(url);
  // `git@` over SSH is everybody's user name.
  const secret = password === "" && protocol.startsWith("http") ? username : password;
  return [secret, percentDecoded(secret)];
}
