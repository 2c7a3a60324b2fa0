import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path/posix";
import { errors } from "../../model/mod.ts";
import { requireRoom } from "../../system/mod.ts";
import { CONTROL } from "../../config/repository_url.ts";
import { DEFAULT_TOKEN_USER, findDomain, type GitLogin, resolveLogin } from "./credentials.ts";
import type { RemoteAccess } from "./git_command.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { sshCommand } from "./ssh_command.ts";
import type { AccessParts } from "./access_options.ts";
import { httpAccess } from "./http_access.ts";

/**
 * Bytes of `known_hosts`, in which new hosts are added up to then: authors name any number of hosts,
 * and ssh reads all of it each time. These are more than five thousand hosts.
 */
const MOST_KNOWN_HOSTS = 1 << 20;

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
      if (each.accessToken !== undefined) {
        parts.redactor.add(each.accessToken);
        parts.redactor.add(`${each.accessTokenUser || DEFAULT_TOKEN_USER}:${each.accessToken}`);
      }
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
    if (url.scheme === "ssh") return await this.#ssh(url, login);
    return httpAccess(url, login, { ...this.#parts.options, unchecked: this.#isUnchecked(url) });
  }

  /**
   * The login for asking a remote over HTTP without git; `undefined` where only git follows the
   * operator's settings: unchecked certificates, proxies other than http, exceptions by address.
   */
  async forHttp(url: RepositoryUrl, signal: AbortSignal): Promise<GitLogin | undefined> {
    const { options } = this.#parts;
    const proxy = url.scheme === "https" ? options.httpsProxy : options.httpProxy;
    const isPlain = /^http:/i.test(proxy) && !/[/:]/.test(options.noProxy);
    if (this.#isUnchecked(url) || (proxy !== "" && !isPlain)) return undefined;
    return await this.#login(url, signal);
  }

  /** A name of the login to a remote, which tells nothing of it; the same while a GitHub App gets new tokens. */
  loginName(url: RepositoryUrl): string {
    const login = JSON.stringify(resolveLogin(url, this.#parts.credentials));
    return createHash("sha256").update(login).digest("hex");
  }

  /** Removes the private directory with its keys. May be called twice. */
  async close(): Promise<void> {
    const directory = this.#directory;
    this.#directory = undefined;
    if (directory !== undefined) await this.#parts.files.remove(await directory);
  }

  async #login(url: RepositoryUrl, signal: AbortSignal): Promise<GitLogin> {
    const login = await this.#anyLogin(url, signal);
    const isBad = login.kind === "ssh_key"
      ? login.passphrase.includes("\0")
      : login.kind === "password" && CONTROL.test(login.user + login.password);
    if (!isBad) return login;
    // No environment holds a NUL, and git reads what helpers tell it in lines.
    throw errors.repository_denied(
      `what logs in to ${url.host} has a control character, such as a NUL or a line break, which git ` +
        "cannot be given: check its token, password or passphrase in the settings, or what its GitHub " +
        "App got for a token",
    );
  }

  async #anyLogin(url: RepositoryUrl, signal: AbortSignal): Promise<GitLogin> {
    const login = resolveLogin(url, this.#parts.credentials);
    if (login.kind !== "github_app") return login;
    const mint = this.#parts.options.githubToken;
    if (mint === undefined) return { kind: "none" };
    const password = await mint(login.app, url, signal);
    return { kind: "password", user: "x-access-token", password };
  }

  async #local(): Promise<RemoteAccess> {
    // Repositories mounted into the service mostly belong to other users. For upload-pack, git takes
    // `safe.directory` only from a configuration file.
    const path = join(await this.#private(), "local.gitconfig");
    await this.#place(path, "[safe]\n\tdirectory = *\n", 0o600);
    return { scheme: "file", config: [], env: { GIT_CONFIG_GLOBAL: path } };
  }

  /**
   * Whether no keys of new SSH hosts are accepted: of hosts that the operator did not name, or while the
   * disk is full. ssh does not look whether a key that it adds arrives there, and any key would pass later.
   */
  async #isStrict(url: RepositoryUrl, knownHosts: string): Promise<boolean> {
    const { credentials: { domains, tokenHosts }, files, options } = this.#parts;
    if (options.knownHostsFile !== "") return true;
    const use = { bytes: MOST_KNOWN_HOSTS, isNew: false };
    if (await requireRoom(files, knownHosts, use).then(() => false, () => true)) return true;
    const { size = 0 } = await files.stat(knownHosts) ?? {};
    if (size <= MOST_KNOWN_HOSTS) return false;
    const isPolled = tokenHosts.some((each) => each.replace(/:\d+$/, "") === url.host);
    return !isPolled && findDomain(url, domains) === undefined;
  }

  /** Whether certificates of the host are not checked. */
  #isUnchecked(url: RepositoryUrl): boolean {
    const { global, domains } = this.#parts.credentials;
    return global.insecureSkipTls === true || findDomain(url, domains)?.insecureSkipTls === true;
  }

  async #ssh(url: RepositoryUrl, login: GitLogin): Promise<RemoteAccess> {
    if (login.kind !== "ssh_key") {
      throw errors.repository_denied(
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
    const { options: { knownHostsFile }, dataDir, lender = dataDir } = this.#parts;
    const own = join(dataDir, "known_hosts");
    const known = new Set([own, join(lender, "known_hosts")]);
    const env = {
      GIT_SSH_COMMAND: sshCommand({
        key,
        knownHosts: knownHostsFile === "" ? [...known] : [knownHostsFile],
        strict: await this.#isStrict(url, own),
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
