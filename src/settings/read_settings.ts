import {
  type CheckSchedule,
  isTimeZone,
  nearestName,
  parsePollConfig,
  parseSyncWindows,
  type PollEntry,
  type SyncWindow,
} from "../config/mod.ts";
import { deepFreeze, invalidSettings } from "./listen_settings.ts";
import { notYet } from "./not_yet.ts";
import { secretProvider } from "./secret_provider.ts";
import type { Settings } from "./settings.ts";
import { type SettingName, SETTINGS_TABLE } from "./settings_table.ts";
import { type Environment, quote, type ReadFile, VariableReader } from "./variable_reader.ts";
import { oneOf } from "./one_of.ts";
import { httpSettings } from "./http_settings.ts";
import { yaml } from "./yaml_setting.ts";
import { gitSettings } from "./git_settings.ts";
import { absolute, defaultDataDir } from "./data_dir.ts";
import { deploySettings } from "./deploy_settings.ts";
import { NOT_YET } from "./not_yet_table.ts";

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
    logLevel: oneOf(reader, "LOG_LEVEL", ["debug", "info", "warn", "error"], "info"),
    logFormat: oneOf(reader, "LOG_FORMAT", ["auto", "text", "json"], "auto"),
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

/**
 * A sentence for each variable whose name is hardly another than that of a setting: nothing reads it.
 * Other programs have variables, too, so only what looks like a slip is told.
 */
function nearNames(environment: Environment): readonly string[] {
  const known = new Set([
    ...SETTINGS_TABLE.flatMap((row) => [
      row.name,
      ...row.aliases,
      ...(row.file ? [`${row.name}_FILE`] : []),
    ]),
    ...NOT_YET.flatMap((row) => [row.name, ...(row.file ? [`${row.name}_FILE`] : [])]),
  ]);
  return Object.keys(environment).filter((name) => !known.has(name)).sort().flatMap((name) => {
    const near = nearestName(name, [...known]);
    return near === undefined ? [] : [`${name} is set, but no setting: did you mean ${near}?`];
  });
}

/** Below it a key is guessed in reasonable time, and a text like it comes up where nobody meant it. */
const SHORTEST_KEY = 12;

/** A warning for each key of the service that is short; none of them is repeated. */
function shortSecrets(
  { apiSecret, apiReadSecret, webhookSecret }: Pick<
    Settings,
    "apiSecret" | "apiReadSecret" | "webhookSecret"
  >,
): string[] {
  const keys = {
    API_SECRET: apiSecret,
    API_READ_SECRET: apiReadSecret,
    WEBHOOK_SECRET: webhookSecret,
  };
  return Object.entries(keys).flatMap(([name, { length } = ""]) =>
    length === 0 || length >= SHORTEST_KEY ? [] : [
      `${name} has ${length} characters: such a key can be guessed, and wherever a log or an answer ` +
      `happens to say the same, there is *** in its place; use one of ${SHORTEST_KEY} or more, such as ` +
      "openssl rand -hex 24 makes",
    ]
  );
}
