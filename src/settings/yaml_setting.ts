import { problemsOf } from "./git_domains.ts";
import type { SettingName } from "./settings_table.ts";
import type { VariableReader } from "./variable_reader.ts";

/** Reads a YAML setting; its problems carry the variable and the line inside it. */
export function yaml<T>(
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
