import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Buffer } from "node:buffer";
import { tmpdir } from "node:os";
import process from "node:process";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { runCommand } from "../../src/cli/mod.ts";
import { createRedactor } from "../../src/system/mod.ts";
import { freePort } from "../fakes/free_port.ts";
import { DENO_PROGRAM, ServiceProcess } from "../e2e/service_process.ts";
import { Canaries } from "../fakes/canaries.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { type GitHttpServer, serve, startGitHttpServer } from "../fakes/git_http_server.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { type GitHubServer, startGitHubServer } from "../fakes/github_server.ts";
import { type OpenBaoServer, startOpenBaoServer } from "../fakes/openbao_server.ts";
import { createAgeKeys } from "../fakes/sops_encryptor.ts";
import { sshMissing, type SshServer, startSshServer } from "../fakes/ssh_server.ts";
import { IMAGE, type RunBody } from "./world.ts";

/** Registry whose credentials lie in the engine client's configuration. */
export const REGISTRY = "registry.test:5000";
/** Host that is rewritten to the Git server that wants a password. */
export const REWRITTEN = "rewritten.test";

/** What a request got. */
export interface Heard {
  readonly status: number;
  readonly text: string;
}

/**
 * The program as a process of its own, with a canary in every setting that is a secret, in the
 * credentials of every server around it, and with everything it says kept.
 */
export interface CanaryHouse {
  readonly canaries: Canaries;
  readonly engine: FakeEngine;
  readonly repository: FakeRepository;
  /** Another one, behind the token as well. */
  readonly other: FakeRepository;
  readonly store: OpenBaoServer;
  readonly github: GitHubServer;
  readonly ssh: SshServer | undefined;
  /** URLs of the repository: with the token, with a password, by SSH, as an App. */
  readonly urls:
    & Readonly<Record<"token" | "domain" | "password" | "app" | "rewritten" | "other", string>>
    & {
      readonly ssh: string | undefined;
    };
  readonly dataDir: string;
  readonly recipients: readonly string[];
  readonly secrets: HouseSecrets;
  /** Settings of the service and of commands. */
  readonly env: Readonly<Record<string, string>>;
  /** A URL of the server that wants a password, with another one. */
  urlWith(password: string, at?: string): string;
  ask(path: string, init?: RequestInit & { readonly port?: "metrics" }): Promise<Heard>;
  /** Polls a source and returns the finished run. */
  poll(entry: Record<string, unknown>): Promise<RunBody & { readonly heard: Heard }>;
  /** Runs a command on the same data directory, with everything logged. */
  command(args: readonly string[], env?: Record<string, string>): Promise<number>;
  /** Process id of the service; that of its last process once it has ended. */
  pid(): number | undefined;
  /** Ends the service. */
  stop(): Promise<void>;
  /** Ends the service and starts it with further settings. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
  /** No canary in anything that was said or written, but in `plain` files below the data directory. */
  assertSilent(plain: RegExp): Promise<void>;
  /** Contents of every object of every mirror, which keep what was committed in the clear. */
  mirrored(): Promise<string>;
  close(): Promise<void>;
}

/** Values a test needs again. */
export interface HouseSecrets {
  readonly api: string;
  readonly webhook: string;
  readonly storeToken: string;
  readonly passphrase: string;
}

/** Starts everything. */
export async function createCanaryHouse(): Promise<CanaryHouse> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-canaries-"));
  const canaries = new Canaries();
  const secrets: HouseSecrets = {
    api: canaries.make("API_SECRET", "header"),
    webhook: canaries.make("WEBHOOK_SECRET", "header"),
    storeToken: canaries.make("SECRET_PROVIDER_ACCESS_TOKEN", "header"),
    passphrase: canaries.make("ssh_private_key_passphrase", "header"),
  };
  const servers = await startServers(directory, canaries, secrets);
  const { engine, repository, byToken, byDomain, byPassword, github, store, ssh } = servers;
  const keys = await createAgeKeys();
  canaries.plant("SOPS_AGE_KEY", keys.identity);
  canaries.plant("github_app_private_key", github.privateKey);
  if (ssh !== undefined) canaries.plant("ssh_private_key", ssh.protectedKey);
  const compose = await createComposeCommand(composePlugins()[0] ?? "");
  const auth = base64(`robot:${canaries.make("registry password")}`);
  const identitytoken = canaries.make("registry identity token");
  const auths = { [REGISTRY]: { auth }, "other.test": { identitytoken } };
  await writeFile(join(compose.configDirectory, "config.json"), JSON.stringify({ auths }));
  const file = async (name: string, text: string) => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const rest = byPassword.password;
  const withPassword = (password: string, at = `127.0.0.1:${byPassword.server.port}`) =>
    `http://bob:${encodeURIComponent(password)}@${at}/remote.git`;
  const proxy = `http://proxy:${
    encodeURIComponent(canaries.make("HTTP_PROXY", "header"))
  }@127.0.0.1:9`;
  const dataDir = join(directory, "data");
  const ports = { http: await freePort(), metrics: await freePort() };
  const env: Record<string, string> = {
    DATA_DIR: dataDir,
    DOCKER_HOST: engine.host,
    DOCKER_CONFIG: compose.configDirectory,
    HOME: directory,
    HTTP_PORT: String(ports.http),
    METRICS_PORT: String(ports.metrics),
    LOG_LEVEL: "debug",
    OPENAPI_ENABLED: "true",
    API_SECRET_FILE: await file("api", `${secrets.api}\n`),
    WEBHOOK_SECRET: secrets.webhook,
    GIT_ACCESS_TOKEN: byToken.password,
    GIT_ACCESS_TOKEN_HOSTS: "127.0.0.1",
    GIT_AUTH_DOMAINS_FILE: await file(
      "domains",
      JSON.stringify([
        { domains: ["127.0.0.2"], git_access_token: byDomain.password },
        {
          domains: ["localhost"],
          github_app_id: "4711",
          github_app_private_key: github.privateKey,
        },
        {
          domains: ["127.0.0.3"],
          ssh_private_key: ssh?.protectedKey ?? canaries.make("another ssh_private_key"),
          ssh_private_key_passphrase: secrets.passphrase,
        },
      ]),
    ),
    SSH_PRIVATE_KEY: canaries.make("SSH_PRIVATE_KEY"),
    SSH_PRIVATE_KEY_PASSPHRASE: canaries.make("SSH_PRIVATE_KEY_PASSPHRASE"),
    SOURCE_URL_REWRITES: JSON.stringify({ [REWRITTEN]: new URL(".", withPassword(rest)).href }),
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: "127.0.0.1,127.0.0.2,127.0.0.3,localhost",
    SOPS_AGE_KEY_FILE: await file("age", keys.identity),
    SECRET_PROVIDER: "openbao",
    SECRET_PROVIDER_SITE_URL: store.origin,
    SECRET_PROVIDER_ACCESS_TOKEN_FILE: await file("token", secrets.storeToken),
    // Of providers that are not in use: secrets all the same.
    SECRET_PROVIDER_CLIENT_SECRET: canaries.make("SECRET_PROVIDER_CLIENT_SECRET"),
    SECRET_PROVIDER_SECRET_ACCESS_KEY: canaries.make("SECRET_PROVIDER_SECRET_ACCESS_KEY"),
    SECRET_PROVIDER_CONNECT_TOKEN: canaries.make("SECRET_PROVIDER_CONNECT_TOKEN"),
    SECRET_PROVIDER_AUTH_PASSWORD: canaries.make("SECRET_PROVIDER_AUTH_PASSWORD"),
    SECRET_PROVIDER_AUTH_TOKEN: canaries.make("SECRET_PROVIDER_AUTH_TOKEN"),
    SECRET_PROVIDER_AUTH_APIKEY: canaries.make("SECRET_PROVIDER_AUTH_APIKEY"),
    AZURE_CLIENT_SECRET: canaries.make("AZURE_CLIENT_SECRET"),
    POLL_CONFIG: JSON.stringify([{
      url: withPassword(rest),
      reference: "main",
      run_once: true,
      deployments: [{
        name: "swt-polled",
        environment: { ADMIN_PASSWORD: canaries.make("inline environment") },
      }],
    }]),
  };
  const said: { what: string; text: string }[] = [];
  const keep = (what: string, text: string) => void said.push({ what, text });
  let service = new ServiceProcess(DENO_PROGRAM, ["serve"], env);
  let logChecked = 0;
  const looked = new Map<string, string>();
  await service.until(() => service.stderr.includes("listening on"));
  const stop = async () => {
    const ended = await service.stop();
    keep("the log", ended.stderr.slice(logChecked));
    logChecked = 0;
    keep("standard output", ended.stdout);
    return ended;
  };

  async function ask(path: string, init: RequestInit & { port?: "metrics" } = {}): Promise<Heard> {
    const port = init.port === undefined ? ports.http : ports.metrics;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { "x-api-key": secrets.api, "content-type": "application/json", ...init.headers },
    });
    const heard = { status: answer.status, text: await answer.text() };
    keep(`${init.method ?? "GET"} ${path}`, JSON.stringify([...answer.headers]) + heard.text);
    return heard;
  }

  return {
    canaries,
    engine,
    repository,
    other: servers.other,
    store,
    github,
    ssh,
    urls: {
      token: `${byToken.server.origin}/remote.git`,
      domain: `${byDomain.server.origin}/remote.git`,
      password: withPassword(rest),
      app: `http://localhost:${github.port}/git/remote.git`,
      rewritten: `https://${REWRITTEN}/remote.git`,
      other: `${byToken.server.origin}/far/remote.git`,
      ssh: ssh === undefined
        ? undefined
        : `ssh://${ssh.user}@127.0.0.3:${ssh.port}${repository.path}`,
    },
    dataDir,
    recipients: [keys.recipient],
    secrets,
    env,
    urlWith: withPassword,
    ask,
    async poll(entry) {
      const body = JSON.stringify([{ reference: "main", ...entry }]);
      const heard = await ask("/v1/api/poll/run", { method: "POST", body });
      const id = (JSON.parse(heard.text) as Record<string, unknown>)["job_id"];
      const run = await ask(`/v1/api/run/${id}`);
      const { content } = JSON.parse(run.text) as { content?: RunBody };
      return { ...(content ?? { job_id: "", status: "" }), heard };
    },
    async command(args, more = {}) {
      const what = args.join(" ");
      return await runCommand({
        args,
        env: { PATH: process.env["PATH"] ?? "", ...env, ...more },
        cwd: directory,
        out: (text) => keep(`${what}: standard output`, text),
        err: (text) => keep(`${what}: standard error`, text),
        interactive: false,
        redactor: createRedactor(),
        signal: new AbortController().signal,
      });
    },
    pid: () => service.pid,
    async stop() {
      await stop();
    },
    async restart(more = {}) {
      await stop();
      service = new ServiceProcess(DENO_PROGRAM, ["serve"], { ...env, ...more });
      await service.until(() => service.stderr.includes("listening on"));
    },
    async assertSilent(plain) {
      // A canary that is being written now is looked at again.
      const log = service.stderr.slice(Math.max(0, logChecked - 200));
      logChecked = service.stderr.length;
      const found = said.concat({ what: "the log", text: log })
        .flatMap(({ what, text }) => canaries.find(text).map((each) => `${what}: ${each}`));
      for (const path of await filesBelow(dataDir)) {
        const name = relative(dataDir, path);
        if (plain.test(name)) continue;
        const state = await stateOf(path);
        if (looked.get(path) === state) continue;
        looked.set(path, state);
        const bytes = await readFile(path).catch(() => new Uint8Array());
        found.push(...canaries.find(bytes).map((each) => `file ${name}: ${each}`));
      }
      // What was found once is not found again by every test behind it.
      said.splice(0);
      assert.equal(found.length, 0, found.slice(0, 8).join("\n"));
    },
    async mirrored() {
      const mirrors = (await filesBelow(dataDir)).filter((each) =>
        /\/mirror\/[0-9a-f]{64}\/HEAD$/.test(each)
      );
      assert.notEqual(mirrors.length, 0);
      const texts = await Promise.all(mirrors.map(async (head) => {
        const args = ["--git-dir", join(head, ".."), "cat-file", "--batch", "--batch-all-objects"];
        const options = { maxBuffer: 1 << 28, encoding: "latin1" } as const;
        return (await promisify(execFile)("git", args, options)).stdout;
      }));
      return texts.join("\n");
    },
    async close() {
      await service.stop();
      await Promise.all([
        ...[byToken, byDomain, byPassword].map((each) => each.server.close()),
        github.close(),
        store.close(),
        ssh?.close(),
        engine.close(),
        compose.close(),
      ]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Changes with the content of a file; most files are trees, which never change. */
async function stateOf(path: string): Promise<string> {
  const info = await stat(path, { bigint: true }).catch(() => undefined);
  return `${info?.ino} ${info?.size} ${info?.mtimeNs} ${info?.ctimeNs}`;
}

interface Guarded {
  readonly server: GitHttpServer;
  readonly password: string;
}

async function startServers(directory: string, canaries: Canaries, secrets: HouseSecrets) {
  const root = join(directory, "git");
  await mkdir(root);
  const engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
  engine.addImage(IMAGE, { where: "both" });
  const guarded = async (name: string, user: string, host: string): Promise<Guarded> => {
    const password = canaries.make(name, "header");
    return {
      password,
      server: await startGitHttpServer({ root, host, login: `${user}:${password}` }),
    };
  };
  return {
    engine,
    repository: await createRepository(root),
    other: await createRepository(join(root, "far")),
    byToken: await guarded("GIT_ACCESS_TOKEN", "oauth2", "127.0.0.1"),
    byDomain: await guarded("git_access_token", "oauth2", "127.0.0.2"),
    byPassword: await guarded("password of a URL", "bob", "127.0.0.1"),
    github: await startGitHubServer({
      appId: "4711",
      installations: { "git/remote": 1 },
      expiresAt: () => new Date(Date.now() + 3_600_000),
      otherwise: (request, response) => serve(directory, request, response),
    }),
    store: await startOpenBaoServer({ token: secrets.storeToken, engines: { kv: 2 } }),
    ssh: sshMissing() === false
      ? await startSshServer({ passphrase: secrets.passphrase, host: "127.0.0.3" })
      : undefined,
  };
}

/** Every file below a directory; links are not followed. */
export async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

/** Permission bits of a path. */
export async function modeOf(path: string): Promise<string> {
  return ((await lstat(path)).mode & 0o777).toString(8);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
