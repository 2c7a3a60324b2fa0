/** The forms that the text of a setting may have to have. */
const TYPES = [
  "boolean",
  "integer",
  "duration",
  "text",
  "secret",
  "path",
  "URL",
  "list",
  "YAML",
] as const;

type SettingType = (typeof TYPES)[number];

/** One environment variable. */
export interface SettingRow<Name extends string = string> {
  readonly name: Name;
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

type MakeRow = (fallback: string, description: string, extra?: Extra) => Omit<SettingRow, "name">;

const makeRow = (type: SettingType): MakeRow => (fallback, description, extra) => {
  return { type, default: fallback, file: false, aliases: [], description, ...extra };
};

/** Rows of the table without their names, by type. */
export const is: Readonly<Record<SettingType, MakeRow>> = Object.fromEntries(
  TYPES.map((type) => [type, makeRow(type)]),
) as Record<SettingType, MakeRow>;
