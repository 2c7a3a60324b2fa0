/** The form that the text of a setting must have. */
type SettingType =
  | "boolean"
  | "integer"
  | "duration"
  | "text"
  | "secret"
  | "path"
  | "URL"
  | "list"
  | "YAML";

/** One environment variable. */
export interface SettingRow {
  readonly name: string;
  readonly type: SettingType;
  /** Text of the default; empty for none. */
  readonly default: string;
  /** Whether `<name>_FILE` may name a file with the value instead. */
  readonly file: boolean;
  /** Other names that mean the same, for those who migrate. */
  readonly aliases: readonly string[];
  /** Smallest and largest value of an integer. */
  readonly range?: readonly [number, number];
  readonly description: string;
}

type Extra = Partial<Pick<SettingRow, "file" | "aliases" | "range">>;

/** Range of the number of a port. */
export const PORT: Extra = { range: [1, 65535] };

/** Range from 0. */
export const NATURAL: Extra = { range: [0, Number.MAX_SAFE_INTEGER] };

/** Range from 1. */
export const POSITIVE: Extra = { range: [1, Number.MAX_SAFE_INTEGER] };

/** A variable whose value a file may hold. */
export const FILE: Extra = { file: true };

/** One row of the table, typed by its name. */
export function row<N extends string>(
  name: N,
  type: SettingType,
  fallback: string,
  description: string,
  extra: Extra = {},
): SettingRow & { readonly name: N } {
  return { name, type, default: fallback, file: false, aliases: [], description, ...extra };
}
