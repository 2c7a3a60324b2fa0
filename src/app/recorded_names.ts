import { join } from "node:path";
import { recordedStacks } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { LEDGER_FILE } from "./open_state.ts";

/** Names of the stacks that the ledger knows, of all contexts, sorted. Throws what reading it throws. */
export function recordedNames({ data }: Pick<Settings, "data">): string[] {
  const names = recordedStacks(join(data.dir, LEDGER_FILE)).map(({ name }) => name);
  return [...new Set(names)].sort();
}
