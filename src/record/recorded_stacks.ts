import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type StackKey, stackKey } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";
import { copyLedger } from "./copy_ledger.ts";
import { knownVersion } from "./migrate_ledger.ts";

/**
 * The stacks with a current release in the ledger at `path`, sorted; none where there is no ledger.
 * `scratchDir` is an empty directory of the caller; nothing else is changed.
 *
 * Throws what reading a ledger throws.
 */
export async function recordedStacks(
  files: Files,
  path: string,
  scratchDir: string,
): Promise<StackKey[]> {
  if (await files.stat(path) === undefined) return [];
  if (await files.stat(`${path}-wal`) !== undefined) return stacksIn(path, path);
  // No process has it open: opening it would leave a journal behind.
  const copy = join(scratchDir, "state.db");
  await copyLedger(files, path, copy);
  return stacksIn(copy, path);
}

/** The stacks in `file`, which is the ledger at `path` or a copy of it. */
function stacksIn(file: string, path: string): StackKey[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    knownVersion(database, path);
    return database.prepare("SELECT context, name FROM stacks ORDER BY context, name").all()
      .map((row) => stackKey(String(row["context"]), String(row["name"])));
  } finally {
    database.close();
  }
}
