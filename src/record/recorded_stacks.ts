import { type StackKey, stackKey } from "../model/mod.ts";
import { existsNow } from "../system/mod.ts";
import { knownVersion } from "./migrate_ledger.ts";
import { openForReading } from "./open_for_reading.ts";

/**
 * The stacks with a current release in the ledger at `path`, sorted; none where there is no ledger.
 * Changes nothing, and reads ledgers of earlier versions, too.
 *
 * Throws what reading a ledger throws.
 */
export function recordedStacks(path: string): StackKey[] {
  if (!existsNow(path)) return [];
  using database = openForReading(path);
  knownVersion(database, path);
  return database.prepare("SELECT context, name FROM stacks ORDER BY context, name").all()
    .map((row) => stackKey(String(row["context"]), String(row["name"])));
}
