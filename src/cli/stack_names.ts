import { recordedNames } from "../app.ts";
import type { CommandIo } from "./io.ts";
import { settingsOf } from "./settings_of.ts";

/** Stacks of the ledger whose names no shell takes for its own: bash runs a `$(…)` in a list of words. */
export async function stackNames(io: CommandIo): Promise<string[]> {
  return recordedNames(await settingsOf(io))
    .filter((name) => /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/.test(name));
}
