import { randomUUID } from "node:crypto";
import { join } from "node:path/posix";
import { StackwrightError } from "../../model/mod.ts";
import type { Files, Redactor } from "../../system/mod.ts";
import {
  findDomain,
  type GitCredentials,
  type GitHubApp,
  type GitLogin,
  isLoopback,
  resolveLogin,
} from "./credentials.ts";
import type { RemoteAccess } from "./git_command.ts";
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
  readonly credentials: GitCredentials;
  readonly options: AccessOptions;
}

/** Prints the credentials it finds in its environment; the text itself holds none. */
const HELPER = '!f() { test "$1" = get && ' +
  'printf \'username=%s\\npassword=%s\\n\' "$STACKWRIGHT_GIT_USER" "$STACKWRIGHT_GIT_PASSWORD"; }; f';
const ASKPASS = "#!/bin/sh\nprintf '%s\\n' \"$STACKWRIGHT_SSH_PASSPHRASE\"\n";

/**
 * Hands credentials to git so that they appear in no argument and in no file but an SSH key's own.
 *
 * A password goes through a credential helper that answers for one host only. (A header set for all
 * requests would follow a redirect to another host; git asks a helper anew for each host.)
 */
export class GitAccess {
  readonly #parts: AccessParts;
  #directory: Promise<string> | undefined;

  constructor(parts: AccessParts) {
    this.#parts = parts;
    for (const each of [parts.credentials.global, ...parts.credentials.domains]) {
      if (each.accessToken !== undefined) parts.redactor.add(each.accessToken);
      if (each.sshPrivateKey !== undefined) parts.redactor.add(each.sshPrivateKey);
      if (each.sshPrivateKeyPassphrase !== undefined) {
        parts.redactor.add(each.sshPrivateKeyPassphrase);
      }
      if (each.githubApp !== undefined) parts.redactor.add(each.githubApp.privateKey);
    }
  }

  /** An empty directory for git to call home. */
  async home(): Promise<string> {
    return join(await this.#private(), "home");
  }

  /**
   * Settings and secrets for one command that talks to a remote. Throws `repository_denied` when the remote needs an SSH key
   * and there is none.
   */
  async forRemote(url: RepositoryUrl, signal: AbortSignal): Promise<RemoteAccess> {
    if (url.scheme === "file") return await this.#local();
    const login = await this.#login(url, signal);
    return url.scheme === "ssh" ? await this.#ssh(url, login) : this.#http(url, login);
  }

  /**
   * How to log in where a remote is asked over HTTP without git; `undefined` where only git keeps the
   * operator's rules: certificates that are not checked, proxies for this machine, and exceptions
   * from proxies by address.
   */
  async forHttp(url: RepositoryUrl, signal: AbortSignal): Promise<GitLogin | undefined> {
    const { credentials, options } = this.#parts;
    const own = findDomain(url.host, credentials.domains);
    if (own?.insecureSkipTls === true || credentials.global.insecureSkipTls === true) {
      return undefined;
    }
    const proxy = url.scheme === "https" ? options.httpsProxy : options.httpProxy;
    if (proxy !== "") {
      const isPlain = /^http:/i.test(proxy) && !/[/:]/.test(options.noProxy);
      if (!isPlain || isLoopback(url.host)) return undefined;
    }
    const login = await this.#login(url, signal);
    if (login.kind === "password") this.#hide(login);
    return login;
  }

  /** Removes keys and everything else that was made. May be called twice. */
  async close(): Promise<void> {
    const directory = this.#directory;
    this.#directory = undefined;
    if (directory !== undefined) await this.#parts.files.remove(await directory);
  }

  async #login(url: RepositoryUrl, signal: AbortSignal): Promise<GitLogin> {
    const login = resolveLogin(url, this.#parts.credentials);
    if (login.kind !== "github_app") return login;
    const mint = this.#parts.options.githubToken;
    if (mint === undefined) return { kind: "none" };
    const password = await mint(login.app, url, signal);
    return { kind: "password", user: "x-access-token", password };
  }

  async #local(): Promise<RemoteAccess> {
    // Other users own most repositories that are mounted into a service. The remote side of git
    // believes only a configuration file in this.
    const path = join(await this.#private(), "local.gitconfig");
    await this.#place(path, "[safe]\n\tdirectory = *\n", 0o600);
    return { scheme: "file", config: [], env: { GIT_CONFIG_GLOBAL: path } };
  }

  #http(url: RepositoryUrl, login: GitLogin): RemoteAccess {
    const { credentials, options } = this.#parts;
    const origin = `${url.scheme}://${url.host}${url.port === "" ? "" : `:${url.port}`}`;
    const config: [string, string][] = [];
    const env: Record<string, string> = {
      ...named("http_proxy", options.httpProxy),
      ...named("https_proxy", options.httpsProxy),
      ...named("no_proxy", options.noProxy),
      ...named("GIT_SSL_CAINFO", options.caFile),
    };
    const own = findDomain(url.host, credentials.domains);
    if (own?.insecureSkipTls === true || credentials.global.insecureSkipTls === true) {
      config.push([`http.${origin}.sslVerify`, "false"]);
    }
    if (login.kind === "password") {
      this.#hide(login);
      config.push([`credential.${origin}.helper`, HELPER]);
      env["STACKWRIGHT_GIT_USER"] = login.user;
      env["STACKWRIGHT_GIT_PASSWORD"] = login.password;
    }
    return { scheme: url.scheme, config, env };
  }

  #hide({ user, password }: { readonly user: string; readonly password: string }): void {
    this.#parts.redactor.add(password);
    this.#parts.redactor.add(`${user}:${password}`);
  }

  async #ssh(url: RepositoryUrl, login: GitLogin): Promise<RemoteAccess> {
    if (login.kind !== "ssh_key") {
      throw new StackwrightError(
        "repository_denied",
        `there is no SSH key for ${url.host}; ` +
          "set SSH_PRIVATE_KEY, or an entry with a key in GIT_AUTH_DOMAINS",
      );
    }
    const directory = await this.#private();
    const text = login.key.replace(/\r/g, "").trim() + "\n";
    const { files } = this.#parts;
    // One file for one command: a key lies on disk no longer than it is needed.
    const key = join(directory, `key-${randomUUID()}`);
    await files.write(key, text, { mode: 0o600 });
    const askpass = join(directory, "askpass");
    const asks = login.passphrase !== "";
    if (asks) await this.#place(askpass, ASKPASS, 0o700);
    const { options, dataDir } = this.#parts;
    const env = {
      GIT_SSH_COMMAND: sshCommand({
        key,
        knownHosts: options.knownHostsFile || join(dataDir, "known_hosts"),
        strict: options.knownHostsFile !== "",
        asks,
      }),
      GIT_SSH_VARIANT: "ssh",
      ...(asks
        ? {
          SSH_ASKPASS: askpass,
          SSH_ASKPASS_REQUIRE: "force",
          DISPLAY: ":0",
          STACKWRIGHT_SSH_PASSPHRASE: login.passphrase,
        }
        : {}),
    };
    return { scheme: "ssh", config: [], env, release: () => files.remove(key) };
  }

  async #place(path: string, text: string, mode: number): Promise<void> {
    const { files } = this.#parts;
    if (await files.stat(path) !== undefined) return;
    await files.write(path, text, { mode });
  }

  #private(): Promise<string> {
    this.#directory ??= this.#makePrivate();
    return this.#directory;
  }

  async #makePrivate(): Promise<string> {
    const { files, options } = this.#parts;
    const directory = await files.makeTemporaryDirectory(options.temporaryPrefix);
    await files.makeDirectory(join(directory, "home"), { mode: 0o700 });
    return directory;
  }
}

function named(name: string, value: string): Record<string, string> {
  return value === "" ? {} : { [name]: value };
}

/** Settings of one ssh program. */
export interface SshSettings {
  /** Path of the key file. */
  readonly key: string;
  readonly knownHosts: string;
  /** Whether a host without a known key is refused rather than remembered. */
  readonly strict: boolean;
  /** Whether a helper answers for the key's passphrase: batch mode would not ask it. */
  readonly asks: boolean;
}

/** The value of `GIT_SSH_COMMAND`: one key, no agent, no user files, no questions. */
export function sshCommand({ key, knownHosts, strict, asks }: SshSettings): string {
  const options = [
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    `BatchMode=${asks ? "no" : "yes"}`,
    "NumberOfPasswordPrompts=1",
    "PreferredAuthentications=publickey",
    `StrictHostKeyChecking=${strict ? "yes" : "accept-new"}`,
    `UserKnownHostsFile="${knownHosts}"`,
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
  ];
  const words = ["ssh", "-F", "/dev/null", "-i", key, ...options.flatMap((each) => ["-o", each])];
  return words.map(quote).join(" ");
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
