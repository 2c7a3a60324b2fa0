import { NOT_YET, type NotYetRow } from "./not_yet_table.ts";
import { quote, type VariableReader } from "./variable_reader.ts";

/**
 * Finds the variables that are set although nothing acts on them: a problem of `reader` for each
 * that must not be ignored, and one sentence for each of the others.
 */
export function notYet(reader: VariableReader): readonly string[] {
  return NOT_YET.flatMap((row) => {
    const name = nameOfSet(reader, row);
    if (name === undefined) return [];
    const message = `this version does not act on it yet: ${row.missing}`;
    if (!row.refused) return [`${name} is set, but ${message}`];
    reader.refuse(name, `${message}; unset it to start without`);
    return [];
  });
}

function nameOfSet(reader: VariableReader, row: NotYetRow): string | undefined {
  if (row.flag) return isOn(reader, row.name) ? row.name : undefined;
  const names = [...reader.namesOf(row.name), ...(row.file ? [`${row.name}_FILE`] : [])];
  return names.find((name) => reader.isSet(name));
}

function isOn(reader: VariableReader, name: string): boolean {
  const word = reader.word(name);
  if (word === undefined || typeof word === "boolean") return word === true;
  // A variable of the table is complained about where its setting is made.
  if (!reader.knows(name)) reader.refuse(name, `expected true or false, found ${quote(word)}`);
  return false;
}
