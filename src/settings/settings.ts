import {
  type CheckSchedule,
  isTimeZone,
  parsePollConfig,
  parseSyncWindows,
  type PollEntry,
  type SyncWindow,
} from "../config/mod.ts";
import { readAgeKey } from "./age_key.ts";
import { memberOf } from "../model/mod.ts";
import { absolute, defaultDataDir } from "./data_dir.ts";
import { deploySettings } from "./deploy_settings.ts";
import { gitSettings } from "./git_settings.ts";
import { httpSettings } from "./http_settings.ts";
import { oneOf } from "./one_of.ts";
import { secretProvider } from "./secret_provider.ts";
import type { SettingName } from "./settings_table.ts";
import { type Environment, quote, type VariableReader } from "./variable_reader.ts";
import { yaml } from "./yaml_setting.ts";

type Frozen<T> = { readonly [Key in keyof T]: Readonly<T[Key]> };

/** Everything the environment decides, read once and frozen. Holds secrets: never log it. */
export interface Settings extends Frozen<ReturnType<typeof everySetting>> {
  /** What was set in vain, a sentence each: to be logged as warnings at the start. */
  readonly notices: readonly string[];
}

/** Facts about the process outside of its variables. */
export interface SettingsOptions {
  /** Effective user id; 0 is root. `undefined` where users have none. */
  readonly uid?: number | undefined;
  /** A full check of cron expressions in POLL_CONFIG and SYNC_WINDOWS. */
  readonly checkSchedule?: CheckSchedule;
}

/** Reads every setting by itself. */
export function everySetting(
  reader: VariableReader,
  environment: Environment,
  { uid, checkSchedule }: SettingsOptions,
) {
  const git = gitSettings(reader);
  return {
    /** Least important level that is logged. */
    logLevel: oneOf(reader, "LOG_LEVEL", ["debug", "info", "warn", "error"], "info"),
    logFormat: oneOf(reader, "LOG_FORMAT", ["auto", "text", "json"], "auto"),
    timeZone: timeZone(reader),
    apiSecret: reader.text("API_SECRET"),
    /** The key that may only look. */
    apiReadSecret: reader.text("API_READ_SECRET"),
    webhookSecret: reader.text("WEBHOOK_SECRET"),
    http: httpSettings(reader),
    git,
    deploy: deploySettings(reader),
    polls: polls(reader, checkSchedule),
    /** Times at which deployments may be made; an empty list is no restriction, `undefined` says nothing of it. */
    syncWindows: syncWindows(reader, checkSchedule),
    /** Whether what a window defers is kept until it opens. */
    syncWindowQueue: reader.boolean("SYNC_WINDOW_QUEUE"),
    /** Where external secrets are; `undefined` when there are none. */
    secretProvider: secretProvider(reader),
    proxy: {
      http: proxy(reader, "HTTP_PROXY"),
      https: proxy(reader, "HTTPS_PROXY"),
      noProxy: reader.list("NO_PROXY"),
    },
    data: {
      dir: absolute(reader, "DATA_DIR") ?? defaultDataDir(environment, uid, reader),
      /** The same directory on the engine's host; `undefined` means it has to be found out. */
      hostDir: absolute(reader, "DATA_HOST_DIR"),
    },
    /** Keys of encrypted files: text with age identities, a line each. */
    sops: { ageKey: readAgeKey(reader) },
    /** The engine client's own variables, as they are. */
    docker: {
      host: reader.text("DOCKER_HOST"),
      apiVersion: reader.text("DOCKER_API_VERSION"),
      configDir: reader.text("DOCKER_CONFIG"),
      /** Credentials for registries, as `config.json` has them: `{"auths": {…}}`. */
      authConfig: authConfig(reader),
      // As the engine's own client has it: any value at all, even 0, switches it on.
      tlsVerify: reader.text("DOCKER_TLS_VERIFY") !== undefined,
      certPath: reader.text("DOCKER_CERT_PATH"),
    },
    /** Files that settings with secrets were read from, and keys: no container may mount them. */
    secretFiles: reader.secretFiles(),
  };
}

const CREDENTIALS = ["auth", "identitytoken", "registrytoken", "password"];

/** Of an object without `auths`, or of no JSON, nobody would get credentials: that is said at once. */
function authConfig(reader: VariableReader): string | undefined {
  const text = reader.text("DOCKER_AUTH_CONFIG");
  if (text === undefined) return undefined;
  try {
    const { auths } = JSON.parse(text);
    const isUsable = (entry: unknown) =>
      CREDENTIALS.some((key) => typeof memberOf(entry, key) === "string");
    if (Object.values(auths).every(isUsable)) return text;
  } catch {
    // What the parser says quotes the text, and that is a secret.
  }
  const shape = '{"auths": {"registry.example.com": {"auth": "…"}}}';
  reader.refuse("DOCKER_AUTH_CONFIG", `must be JSON like ${shape}`);
  return undefined;
}

function timeZone(reader: VariableReader): string {
  const text = (reader.text("TZ") ?? "").trim();
  if (!isTimeZone(text)) {
    reader.refuse("TZ", `expected a time zone such as Europe/Berlin, found ${quote(text)}`);
  }
  return text;
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

function proxy(reader: VariableReader, name: SettingName): string | undefined {
  const text = reader.text(name)?.trim();
  if (text === undefined) return undefined;
  if (!/^https?:\/\/[^\s/]/i.test(text) || !URL.canParse(text)) {
    reader.refuse(name, "expected the URL of a proxy, such as http://proxy.example.com:3128");
  }
  return text;
}
