import type { SourceFailure } from "../model/mod.ts";
import { existsNow } from "../system/mod.ts";
import { LedgerDatabase } from "./ledger_database.ts";
import { SourceFailures } from "./source_failures.ts";

/**
 * The failures of sources, by key, in the ledger at `path`, which is only read; none where there is no
 * ledger. Throws what reading a ledger throws, also for one of an earlier version.
 */
export function recordedFailures(
  path: string,
  keys: readonly string[],
): ReadonlyMap<string, SourceFailure> {
  if (!existsNow(path)) return new Map();
  using database = new LedgerDatabase(path, { onlyReads: true });
  // What is recorded was redacted then.
  const failures = new SourceFailures(database, String);
  return new Map(keys.flatMap((key) => {
    const failure = failures.of(key);
    return failure === undefined ? [] : [[key, failure] as const];
  }));
}
