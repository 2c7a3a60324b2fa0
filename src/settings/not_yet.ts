import { parseLocatedYaml } from "../config/mod.ts";
import { NOT_YET, type NotYetRow } from "./not_yet_table.ts";
import { quote, type VariableReader } from "./variable_reader.ts";

/** Finds what is set in vain: a problem of `reader` where that matters, else a sentence each. */
export function notYet(reader: VariableReader): readonly string[] {
  return NOT_YET.flatMap((row) => {
    const name = nameOfSet(reader, row);
    if (name === undefined) return [];
    const message = row.settled === true
      ? `nothing acts on it: ${row.missing}`
      : `this version does not act on it yet: ${row.missing}`;
    if (!row.refused) return [`${name} is set, but ${message}`];
    reader.refuse(name, `${message}; unset it to start without`);
    return [];
  });
}

function nameOfSet(reader: VariableReader, row: NotYetRow): string | undefined {
  if (row.flag) return isOn(reader, row.name) ? row.name : undefined;
  if (row.harmless !== undefined && reader.textOf(row.name) === row.harmless) return undefined;
  if (row.switchInside === true && isOffInside(reader.textOf(row.name))) return undefined;
  const names = [...reader.namesOf(row.name), ...(row.file ? [`${row.name}_FILE`] : [])];
  return names.find((name) => reader.isSet(name));
}

/** True for valid YAML whose switch is off. */
function isOffInside(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    const [first, second] = parseLocatedYaml(text, "");
    if (first?.root.kind !== "map" || second !== undefined) return false;
    const enabled = first.root.entries.get("enabled")?.value;
    return enabled === undefined || (enabled.kind === "scalar" && enabled.value === false);
  } catch {
    return false;
  }
}

function isOn(reader: VariableReader, name: string): boolean {
  const word = reader.word(name);
  if (word === undefined || typeof word === "boolean") return word === true;
  // Invalid values of known settings are reported by the reader of the setting.
  if (!reader.knows(name)) reader.refuse(name, `expected true or false, found ${quote(word)}`);
  return false;
}
