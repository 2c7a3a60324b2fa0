import { posix } from "node:path";
import { clip, messageOf, parseDuration, type Problem } from "../model/mod.ts";
import { type SettingName, SETTINGS_TABLE } from "./settings_table.ts";
import type { SettingRow } from "./setting_row.ts";

/** The process environment, or what a test puts in its place. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The text of a file; throws when there is none or it cannot be read. */
export type ReadFile = (path: string) => string;

/** Reads variables by the table of settings; its messages have no text that may be a secret. */
export class VariableReader {
  readonly problems: Problem[] = [];
  readonly #environment: Environment;
  readonly #readFile: ReadFile;
  readonly #rows = new Map<string, SettingRow>(SETTINGS_TABLE.map((row) => [row.name, row]));

  constructor(environment: Environment, readFile: ReadFile) {
    this.#environment = environment;
    this.#readFile = readFile;
  }

  /** Records a problem; `name` is the variable its author has to change, or stands for its alias. */
  refuse(name: string, message: string): void {
    const aliases = this.isSet(name) ? [] : this.#rows.get(name)?.aliases ?? [];
    const alias = aliases.find((each) => this.isSet(each));
    this.problems.push({ file: alias ?? name, message });
  }

  /** The variable a value comes from: `X_FILE` when that one is set. */
  origin(name: SettingName): string {
    const file = `${name}_FILE`;
    return this.#row(name).file && this.#raw(file) !== undefined ? file : name;
  }

  /** The value, its default, or `undefined`. A file's content is trimmed. */
  text(name: SettingName): string | undefined {
    const row = this.#row(name);
    const value = this.#own(row);
    if (value !== undefined) return value;
    return row.default === "" ? undefined : row.default;
  }

  /**
   * Absolute paths of the files that hold our secrets: those of every `X_FILE` variable, and the keys for HTTPS and for the engine.
   */
  secretFiles(): readonly string[] {
    const names = Object.keys(this.#environment).filter((name) =>
      name === "HTTP_TLS_KEY_FILE" || name === "DOCKER_CERT_PATH" ||
      name.endsWith("_FILE") && this.#rows.get(name.slice(0, -"_FILE".length))?.file === true
    );
    const paths = names.map((name) => this.#raw(name)?.trim() ?? "");
    const named = paths.filter((path) => path !== "").map((path) => posix.resolve(path));
    return [...new Set(named)].sort();
  }

  /** Whether a variable, of the table or not, has a value. */
  isSet(name: string): boolean {
    return this.#raw(name) !== undefined;
  }

  /** The text of a variable that need not be of the table, or of the file that `X_FILE` names. */
  textOf(name: string): string | undefined {
    const file = this.#raw(`${name}_FILE`);
    try {
      return this.#raw(name) ?? (file === undefined ? undefined : this.#readFile(file));
    } catch {
      return undefined;
    }
  }

  /** Whether a variable is in the table of settings. */
  knows(name: string): boolean {
    return this.#rows.has(name);
  }

  /** A name and, for a variable of the table, its aliases. */
  namesOf(name: string): readonly string[] {
    return [name, ...this.#rows.get(name)?.aliases ?? []];
  }

  /** A variable, of the table or not: a boolean where it is one, else its text. */
  word(name: string): boolean | string | undefined {
    const value = this.#raw(name);
    return value === undefined ? undefined : asBoolean(value) ?? value;
  }

  /** A boolean, by the words Go's parser takes. */
  boolean(name: SettingName): boolean {
    const value = this.text(name);
    const read = value === undefined ? false : asBoolean(value);
    if (value === undefined || read !== undefined) return read ?? false;
    this.refuse(name, `expected true or false, found ${quote(value)}`);
    return false;
  }

  /** A whole number inside the range of its row. */
  integer(name: SettingName): number {
    const [least, most] = this.#row(name).range ?? [0, Number.MAX_SAFE_INTEGER];
    const value = this.text(name) ?? "0";
    const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number === 0 ? 0 : number;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `${least} to ${most}`;
    this.refuse(name, `expected a whole number ${range}, found ${quote(value)}`);
    return least;
  }

  /** The seconds of a length of time that is not negative. */
  seconds(name: SettingName): number {
    const value = this.text(name) ?? "0";
    try {
      const seconds = parseDuration(value);
      if (seconds >= 0) return seconds;
    } catch {
      // Said below, in the words of settings.
    }
    this.refuse(name, `expected seconds or a duration such as 10s or 3m, found ${quote(value)}`);
    return 0;
  }

  /** The parts of a list between commas, without empty ones. */
  list(name: SettingName): readonly string[] {
    const parts = (this.text(name) ?? "").split(",").map((part) => part.trim());
    return parts.filter((part) => part !== "");
  }

  #own(row: SettingRow): string | undefined {
    const value = this.#named(row);
    const file = row.file ? this.#raw(`${row.name}_FILE`) : undefined;
    if (file === undefined) return value;
    if (value === undefined) return this.#content(`${row.name}_FILE`, file);
    this.refuse(row.name, `${row.name} and ${row.name}_FILE are both set; keep one of them`);
    return undefined;
  }

  /** The value under the row's name or, where that is unset, under one of its aliases. */
  #named(row: SettingRow): string | undefined {
    const value = this.#raw(row.name);
    for (const alias of row.aliases) {
      const other = this.#raw(alias);
      if (other === undefined || other === value) continue;
      if (value === undefined) return other;
      this.refuse(row.name, `${row.name} and its alias ${alias} differ; keep one of them`);
    }
    return value;
  }

  #content(name: string, path: string): string | undefined {
    try {
      const text = this.#readFile(path).trim();
      return text === "" ? undefined : text;
    } catch (error) {
      const why = /^[.~]{0,2}\//.test(path)
        ? `reading ${clip(path, 200)} failed: ${clip(messageOf(error), 200)}`
        // Who sets the wrong one of two variables has written the secret itself here.
        : "reading the file failed: expected the path of a file, beginning with /";
      this.refuse(name, why);
      return undefined;
    }
  }

  #raw(name: string): string | undefined {
    const value = this.#environment[name];
    return value === undefined || value.trim() === "" ? undefined : value;
  }

  #row(name: SettingName): SettingRow {
    const row = this.#rows.get(name);
    if (row === undefined) throw new TypeError(`${name} is not in the table of settings`);
    return row;
  }
}

/** A value for a message. */
export function quote(value: string): string {
  return JSON.stringify(clip(value, 40));
}

const TRUE = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE = ["0", "f", "F", "false", "FALSE", "False"];

/** The boolean a word means, by the words Go's parser takes; `undefined` for any other. */
function asBoolean(value: string): boolean | undefined {
  if (TRUE.includes(value)) return true;
  return FALSE.includes(value) ? false : undefined;
}
