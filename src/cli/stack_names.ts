import { recordedNames } from "../app.ts";
import type { CommandIo } from "./io.ts";
import { settingsOf } from "./settings_of.ts";

/**
 * Names of the stacks in the ledger that no shell takes for its own: repositories choose them, and bash
 * runs a `$(…)` in a list of words.
 */
export async function stackNames(io: CommandIo): Promise<string[]> {
  return recordedNames(await settingsOf(io))
    .filter((name) => /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(name));
}
