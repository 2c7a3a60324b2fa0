import {
  type AppCredentials,
  type GitDomain,
  parseGitDomains,
  parseUrlRewrites,
} from "./git_domains.ts";
import { quote, type VariableReader } from "./variable_reader.ts";
import { yaml } from "./yaml_setting.ts";

/** Settings of Git sources. */
export type GitSettings = Readonly<ReturnType<typeof gitSettings>>;

/** Reads the settings of Git sources. */
export function gitSettings(reader: VariableReader) {
  const hosts = reader.list("GIT_ACCESS_TOKEN_HOSTS").map((host) => host.toLowerCase());
  const noHost = hosts.find((host) => /[/@\s]/.test(host));
  // It would match nothing, and logins would fail as if the token were wrong.
  if (noHost !== undefined) {
    const expected = "expected hosts such as git.example.com or git.example.com:8443";
    reader.refuse("GIT_ACCESS_TOKEN_HOSTS", `${expected}; found ${quote(noHost)}`);
  }
  return {
    accessToken: reader.text("GIT_ACCESS_TOKEN"),
    accessTokenUser: reader.text("GIT_ACCESS_TOKEN_USER") ?? "",
    /** Lower-case hosts that may get the token; `undefined` means those of configured sources. */
    accessTokenHosts: hosts.length === 0 ? undefined : hosts,
    domains: yaml<readonly GitDomain[]>(reader, "GIT_AUTH_DOMAINS", [], parseGitDomains),
    /** The GitHub App for hosts without an entry of their own. */
    app: githubApp(reader),
    /** Commits of history; 0 is all. */
    cloneDepth: reader.integer("GIT_CLONE_DEPTH"),
    cloneSubmodules: reader.boolean("GIT_CLONE_SUBMODULES"),
    /** Most bytes of one fetch, and of the files of one tree; 0 is no limit. */
    maxBytes: reader.integer("GIT_MAX_BYTES"),
    /** Most processor time of each program of a fetch, in seconds; 0 is no limit. */
    maxCpuSeconds: reader.integer("GIT_MAX_CPU_SECONDS"),
    sshPrivateKey: sshPrivateKey(reader),
    sshPrivateKeyPassphrase: reader.text("SSH_PRIVATE_KEY_PASSPHRASE"),
    sshKnownHostsFile: reader.text("SSH_KNOWN_HOSTS_FILE"),
    skipTlsVerification: reader.boolean("SKIP_TLS_VERIFICATION"),
    /** From a URL, prefix or host (with a lower-case host) to its replacement. */
    urlRewrites: yaml<Readonly<Record<string, string>>>(
      reader,
      "SOURCE_URL_REWRITES",
      {},
      parseUrlRewrites,
    ),
  };
}

/** A public key, or one of another program, would only be seen to be that when a host refuses it. */
function sshPrivateKey(reader: VariableReader): string | undefined {
  const text = reader.text("SSH_PRIVATE_KEY");
  const is = (form: RegExp) => text !== undefined && form.test(text.trim());
  if (is(/^(?:ssh|ecdsa|sk)-\S+ /)) {
    reader.refuse(
      reader.origin("SSH_PRIVATE_KEY"),
      "is a public key; expected the private one, which begins with -----BEGIN",
    );
  } else if (is(/^PuTTY-User-Key-File/)) {
    reader.refuse(
      reader.origin("SSH_PRIVATE_KEY"),
      "is a key of PuTTY; expected one of OpenSSH: puttygen KEY -O private-openssh -o id_key",
    );
  }
  return text;
}

function githubApp(reader: VariableReader): AppCredentials | undefined {
  const id = reader.text("GITHUB_APP_ID")?.trim();
  const privateKey = reader.text("GITHUB_APP_PRIVATE_KEY");
  const installation = reader.integer("GITHUB_APP_INSTALLATION_ID");
  if (id === undefined && privateKey === undefined) return undefined;
  if (id === undefined || privateKey === undefined) {
    const [missing, given] = id === undefined
      ? ["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY"] as const
      : ["GITHUB_APP_PRIVATE_KEY", "GITHUB_APP_ID"] as const;
    reader.refuse(missing, `must be set too, since ${given} is`);
    return undefined;
  }
  if (reader.text("GIT_ACCESS_TOKEN") !== undefined) {
    reader.refuse("GIT_ACCESS_TOKEN", "is set together with GITHUB_APP_ID; keep one of them");
  }
  return { id, privateKey, installationId: installation === 0 ? "" : String(installation) };
}
