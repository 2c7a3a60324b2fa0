import { posix } from "node:path";
import * as z from "zod";
import {
  type CheckSchedule,
  checkWorkingDir,
  isTimeZone,
  parsePollConfig,
  parseSyncWindows,
  type PollEntry,
  type SyncWindow,
} from "../config/mod.ts";
import {
  type AppCredentials,
  parseGitDomains,
  parseUrlRewrites,
  problemsOf,
} from "./git_domains.ts";
import {
  deepFreeze,
  EVERY_ADDRESS,
  invalidSettings,
  listenHost,
  tlsFiles,
} from "./listen_settings.ts";
import { nearNames } from "./near_names.ts";
import { shortSecrets } from "./short_secrets.ts";
import { notYet } from "./not_yet.ts";
import { secretProvider } from "./secret_provider.ts";
import {
  type DeploySettings,
  type GitSettings,
  type HttpSettings,
  LOG_FORMATS,
  LOG_LEVELS,
  type LogFormat,
  type LogLevel,
  REMOTE_FILES_MODES,
  type RemoteFilesMode,
  type Settings,
} from "./settings.ts";
import type { SettingName } from "./settings_table.ts";
import { type Environment, quote, type ReadFile, VariableReader } from "./variable_reader.ts";

/** Facts about the process outside of its variables. */
export interface SettingsOptions {
  /** Effective user id; 0 is root. `undefined` where users have none. */
  readonly uid?: number | undefined;
  /** A full check of cron expressions in POLL_CONFIG and SYNC_WINDOWS. */
  readonly checkSchedule?: CheckSchedule;
}

/**
 * Reads every setting; `readFile` is asked for the files of `X_FILE` variables. Reading the same
 * environment again gives equal settings.
 *
 * Throws `settings_invalid`: all problems, a line each, beginning with the variable.
 */
export function readSettings(
  environment: Environment,
  readFile: ReadFile,
  options: SettingsOptions = {},
): Settings {
  const reader = new VariableReader(environment, readFile);
  const git = gitSettings(reader);
  const read: Omit<Settings, "notices"> = {
    logLevel: logLevel(reader),
    logFormat: logFormat(reader),
    timeZone: timeZone(reader),
    apiSecret: reader.text("API_SECRET"),
    apiReadSecret: reader.text("API_READ_SECRET"),
    webhookSecret: reader.text("WEBHOOK_SECRET"),
    http: httpSettings(reader),
    git,
    deploy: deploySettings(reader),
    polls: polls(reader, options.checkSchedule),
    syncWindows: syncWindows(reader, options.checkSchedule),
    syncWindowQueue: reader.boolean("SYNC_WINDOW_QUEUE"),
    secretProvider: secretProvider(reader),
    proxy: {
      http: proxy(reader, "HTTP_PROXY"),
      https: proxy(reader, "HTTPS_PROXY"),
      noProxy: reader.list("NO_PROXY"),
    },
    data: {
      dir: absolute(reader, "DATA_DIR") ?? defaultDataDir(environment, options.uid, reader),
      hostDir: absolute(reader, "DATA_HOST_DIR"),
    },
    sops: { ageKey: ageKey(reader) },
    docker: {
      host: reader.text("DOCKER_HOST"),
      apiVersion: reader.text("DOCKER_API_VERSION"),
      configDir: reader.text("DOCKER_CONFIG"),
      authConfig: authConfig(reader),
      // As the engine's own client has it: any value at all, even 0, switches it on.
      tlsVerify: reader.text("DOCKER_TLS_VERIFY") !== undefined,
      certPath: reader.text("DOCKER_CERT_PATH"),
    },
    secretFiles: reader.secretFiles(),
  };
  const notices = [...notYet(reader), ...nearNames(environment), ...shortSecrets(read)];
  const settings: Settings = { ...read, notices };
  checkTogether(settings, reader);
  if (reader.problems.length > 0) throw invalidSettings(reader.problems);
  return deepFreeze(settings);
}

/** Of an object without `auths`, or of no JSON, nobody would get credentials: that is said at once. */
function authConfig(reader: VariableReader): string | undefined {
  const text = reader.text("DOCKER_AUTH_CONFIG");
  if (text === undefined) return undefined;
  try {
    const { auths } = JSON.parse(text);
    if (
      Object.values(auths).every((each) => typeof (each as { auth?: unknown }).auth === "string")
    ) {
      return text;
    }
  } catch {
    // What the parser says quotes the text, and that is a secret.
  }
  const shape = '{"auths": {"registry.example.com": {"auth": "…"}}}';
  reader.refuse("DOCKER_AUTH_CONFIG", `must be JSON like ${shape}`);
  return undefined;
}

function checkTogether(settings: Settings, reader: VariableReader): void {
  const { http } = settings;
  if (http.port === http.metricsPort) {
    reader.refuse("METRICS_PORT", `must differ from HTTP_PORT, both are ${http.port}`);
  }
  if (settings.apiReadSecret !== undefined && settings.apiReadSecret === settings.apiSecret) {
    reader.refuse("API_READ_SECRET", "must differ from API_SECRET: it could do more than read");
  }
  const secretFails = reader.problems.some(({ file }) => file.startsWith("API_SECRET"));
  if (http.mcpEnabled && settings.apiSecret === undefined && !secretFails) {
    reader.refuse("MCP_ENABLED", "the tool server requires API_SECRET or API_SECRET_FILE");
  }
}

function logLevel(reader: VariableReader): LogLevel {
  const text = reader.text("LOG_LEVEL") ?? "";
  const level = LOG_LEVELS.find((name) => name === text.trim().toLowerCase());
  if (level === undefined) {
    reader.refuse("LOG_LEVEL", `expected ${LOG_LEVELS.join(", ")}; found ${quote(text)}`);
  }
  return level ?? "info";
}

function logFormat(reader: VariableReader): LogFormat {
  const text = (reader.text("LOG_FORMAT") ?? "auto").trim().toLowerCase();
  const format = LOG_FORMATS.find((name) => name === text);
  if (format === undefined) {
    reader.refuse("LOG_FORMAT", `expected ${LOG_FORMATS.join(", ")}; found ${quote(text)}`);
  }
  return format ?? "auto";
}

function timeZone(reader: VariableReader): string {
  const text = (reader.text("TZ") ?? "").trim();
  if (!isTimeZone(text)) {
    reader.refuse("TZ", `expected a time zone such as Europe/Berlin, found ${quote(text)}`);
  }
  return text;
}

function httpSettings(reader: VariableReader): HttpSettings {
  const header = (reader.text("TRUSTED_PROXY_HEADER") ?? "").trim();
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)) {
    reader.refuse("TRUSTED_PROXY_HEADER", `expected the name of a header, found ${quote(header)}`);
  }
  const host = listenHost(reader, "HTTP_HOST") ?? EVERY_ADDRESS;
  return {
    host,
    port: reader.integer("HTTP_PORT"),
    tls: tlsFiles(reader),
    metricsHost: listenHost(reader, "METRICS_HOST") ?? host,
    metricsPort: reader.integer("METRICS_PORT"),
    maxPayloadBytes: reader.integer("MAX_PAYLOAD_SIZE"),
    mcpEnabled: reader.boolean("MCP_ENABLED"),
    openApiEnabled: reader.boolean("OPENAPI_ENABLED"),
    trustedProxyNetworks: networks(reader),
    trustedProxyHeader: header,
  };
}

function networks(reader: VariableReader): readonly string[] {
  const parts = reader.list("TRUSTED_PROXY_NETWORKS");
  for (const part of parts) {
    if (z.cidrv4().safeParse(part).success || z.cidrv6().safeParse(part).success) continue;
    reader.refuse("TRUSTED_PROXY_NETWORKS", `expected networks in CIDR form, found ${quote(part)}`);
  }
  return [...new Set(parts)];
}

function gitSettings(reader: VariableReader): GitSettings {
  const hosts = reader.list("GIT_ACCESS_TOKEN_HOSTS").map((host) => host.toLowerCase());
  return {
    accessToken: reader.text("GIT_ACCESS_TOKEN"),
    accessTokenUser: reader.text("GIT_ACCESS_TOKEN_USER") ?? "",
    accessTokenHosts: hosts.length === 0 ? undefined : hosts,
    domains: yaml(reader, "GIT_AUTH_DOMAINS", [], parseGitDomains),
    app: githubApp(reader),
    cloneDepth: reader.integer("GIT_CLONE_DEPTH"),
    cloneSubmodules: reader.boolean("GIT_CLONE_SUBMODULES"),
    maxBytes: reader.integer("GIT_MAX_BYTES"),
    sshPrivateKey: reader.text("SSH_PRIVATE_KEY"),
    sshPrivateKeyPassphrase: reader.text("SSH_PRIVATE_KEY_PASSPHRASE"),
    sshKnownHostsFile: reader.text("SSH_KNOWN_HOSTS_FILE"),
    skipTlsVerification: reader.boolean("SKIP_TLS_VERIFICATION"),
    urlRewrites: yaml(reader, "SOURCE_URL_REWRITES", {}, parseUrlRewrites),
  };
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

function deploySettings(reader: VariableReader): DeploySettings {
  const base = checkWorkingDir(reader.text("DEPLOY_CONFIG_BASE_DIR") ?? "/");
  if ("problem" in base) {
    reader.refuse("DEPLOY_CONFIG_BASE_DIR", "expected a directory inside the repository");
  }
  return {
    configBaseDir: "value" in base ? base.value : ".",
    passEnv: reader.boolean("PASS_ENV"),
    maxConcurrentDeployments: reader.integer("MAX_CONCURRENT_DEPLOYMENTS"),
    maxConcurrentPredeployments: reader.integer("MAX_CONCURRENT_PREDEPLOYMENTS"),
    rollback: reader.boolean("DEPLOY_ROLLBACK"),
    watchMs: reader.seconds("DEPLOY_WATCH") * 1000,
    releaseImageRetention: reader.integer("RELEASE_IMAGE_RETENTION"),
    artifactGcEnabled: reader.boolean("ARTIFACT_GC_ENABLED"),
    artifactGcRetentionRecords: reader.integer("ARTIFACT_GC_RETENTION_RECORDS"),
    allowLocalRepositoryUrl: reader.boolean("ALLOW_LOCAL_REPOSITORY_URL"),
    quiet: reader.boolean("CONTAINER_QUIET_DEPLOY"),
    recoverOnStartup: reader.boolean("RECOVER_ON_STARTUP"),
    schedulerEnabled: reader.boolean("SCHEDULER_ENABLED"),
    swarmFeatures: reader.boolean("CONTAINER_SWARM_FEATURES"),
    swarmConfigRetention: reader.integer("CONTAINER_SWARM_CONFIG_RETENTION"),
    swarmSecretRetention: reader.integer("CONTAINER_SWARM_SECRET_RETENTION"),
    remoteFiles: remoteFiles(reader),
  };
}

function remoteFiles(reader: VariableReader): RemoteFilesMode {
  const text = (reader.text("REMOTE_FILES") ?? "refuse").trim().toLowerCase();
  const mode = REMOTE_FILES_MODES.find((name) => name === text);
  if (mode === undefined) {
    reader.refuse(
      "REMOTE_FILES",
      `expected ${REMOTE_FILES_MODES.join(" or ")}; found ${quote(text)}`,
    );
  }
  return mode ?? "refuse";
}

function polls(reader: VariableReader, checkSchedule: CheckSchedule | undefined) {
  const extra = checkSchedule === undefined ? {} : { checkSchedule };
  return yaml<readonly PollEntry[]>(
    reader,
    "POLL_CONFIG",
    [],
    (text, file) => parsePollConfig(text, { file, ...extra }),
  );
}

function syncWindows(reader: VariableReader, checkSchedule: CheckSchedule | undefined) {
  const zone = (reader.text("TZ") ?? "").trim();
  const extra = checkSchedule === undefined ? {} : { checkSchedule };
  const timeZone = isTimeZone(zone) ? zone : "UTC";
  return yaml<readonly SyncWindow[] | undefined>(
    reader,
    "SYNC_WINDOWS",
    undefined,
    (text, file) => parseSyncWindows(text, { file, timeZone, ...extra }),
  );
}

/** Reads a YAML setting; its problems carry the variable and the line inside it. */
function yaml<T>(
  reader: VariableReader,
  name: SettingName,
  none: T,
  parse: (text: string, file: string) => T,
): T {
  const text = reader.text(name);
  if (text === undefined) return none;
  try {
    return parse(text, reader.origin(name));
  } catch (error) {
    reader.problems.push(...problemsOf(error));
    return none;
  }
}

function proxy(reader: VariableReader, name: SettingName): string | undefined {
  const text = reader.text(name)?.trim();
  if (text === undefined) return undefined;
  if (!/^https?:\/\/[^\s/]/i.test(text) || !URL.canParse(text)) {
    reader.refuse(name, "expected the URL of a proxy, such as http://proxy.example.com:3128");
  }
  return text;
}

/** The form is checked, and no line is shown: a mistyped key is a key. */
function ageKey(reader: VariableReader): string | undefined {
  const text = reader.text("SOPS_AGE_KEY");
  const lines = (text ?? "").split("\n").map((line) => line.trim());
  const wrong = lines.findIndex((line) =>
    line !== "" && !line.startsWith("#") && !/^AGE-(?:SECRET-KEY|PLUGIN)-[A-Z0-9-]+$/.test(line)
  );
  if (wrong >= 0) {
    reader.refuse(
      reader.origin("SOPS_AGE_KEY"),
      `line ${wrong + 1} is no age identity: expected AGE-SECRET-KEY-…, one a line`,
    );
  }
  return text;
}

function absolute(reader: VariableReader, name: SettingName): string | undefined {
  const text = reader.text(name);
  if (text === undefined) return undefined;
  if (!text.startsWith("/")) reader.refuse(name, `expected an absolute path, found ${quote(text)}`);
  return posix.normalize(text).replace(/(?<=.)\/+$/, "");
}

/** The image sets DATA_DIR itself, so its place needs no rule here. */
function defaultDataDir(
  environment: Environment,
  uid: number | undefined,
  reader: VariableReader,
): string {
  // systemd lists several directories with colons; the first is ours.
  const state = environment["STATE_DIRECTORY"]?.split(":")[0];
  if (state !== undefined && state.startsWith("/")) return state;
  if (uid === 0) return "/var/lib/stackwright";
  const xdg = environment["XDG_STATE_HOME"];
  if (xdg !== undefined && xdg.startsWith("/")) return posix.join(xdg, "stackwright");
  const home = environment["HOME"];
  if (home !== undefined && home.startsWith("/")) {
    return posix.join(home, ".local/state/stackwright");
  }
  reader.refuse("DATA_DIR", "must be set: there is no home directory to put the data into");
  return "/";
}
