import { nearestName } from "../config/mod.ts";
import { NOT_YET } from "./not_yet_table.ts";
import { SETTINGS_TABLE } from "./settings_table.ts";
import type { Environment } from "./variable_reader.ts";

/**
 * A sentence for each variable whose name is hardly another than that of a setting: nothing reads it.
 * Other programs have variables, too, so only what looks like a slip is told.
 */
export function nearNames(environment: Environment): readonly string[] {
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
