import type { SettingName } from "./settings_table.ts";
import { quote, type VariableReader } from "./variable_reader.ts";

/** The value of a setting that allows certain words, in any case; `fallback` after a refusal. */
export function oneOf<W extends string>(
  reader: VariableReader,
  name: SettingName,
  words: readonly W[],
  fallback: W,
): W {
  const text = reader.text(name) ?? "";
  const found = words.find((word) => word === text.trim().toLowerCase());
  if (found !== undefined) return found;
  const expected = words.join(words.length === 2 ? " or " : ", ");
  reader.refuse(name, `expected ${expected}; found ${quote(text)}`);
  return fallback;
}
