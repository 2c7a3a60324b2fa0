import { nearestName } from "../config/mod.ts";
import { deepFreeze, invalidSettings } from "./listen_settings.ts";
import { notYet } from "./not_yet.ts";
import { NOT_YET } from "./not_yet_table.ts";
import { everySetting, type Settings, type SettingsOptions } from "./settings.ts";
import { SETTINGS_TABLE } from "./settings_table.ts";
import { type Environment, type ReadFile, VariableReader } from "./variable_reader.ts";

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
  const read = everySetting(reader, environment, options);
  const notices = [...notYet(reader), ...nearNames(environment), ...shortSecrets(read)];
  const settings: Settings = { ...read, notices };
  checkTogether(settings, reader);
  if (reader.problems.length > 0) throw invalidSettings(reader.problems);
  return deepFreeze(settings);
}

function checkTogether(settings: Settings, reader: VariableReader): void {
  const { http } = settings;
  const areRead = !reader.problems.some(({ file }) => /^(HTTP|METRICS)_PORT$/.test(file));
  if (areRead && http.port === http.metricsPort) {
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

/** A sentence for each variable with nearly a setting's name; other programs have variables, too. */
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

/** Shorter keys can be guessed in reasonable time, and masking them would hide ordinary texts. */
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
