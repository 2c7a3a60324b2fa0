/** The environment becomes one frozen Settings, read once at the start, by a table that is data. */
export { NOT_YET } from "./not_yet_table.ts";
export type { GitSettings } from "./git_settings.ts";
export { readListenSettings } from "./listen_settings.ts";
export * from "./read_settings.ts";
export * from "./secret_values.ts";
export type { Settings, SettingsOptions } from "./settings.ts";
export * from "./settings_table.ts";
export { type SettingRow } from "./setting_row.ts";
export { type Environment, type ReadFile, VariableReader } from "./variable_reader.ts";
