import { existsNow } from "../system/mod.ts";
import { LedgerDatabase } from "./ledger_database.ts";

/** Milliseconds for which a refusal to another poll counts: only the next poll tells whether it still is. */
export const REFUSED_MS = 3600 * 1000;

/** A stack that was refused to a source which names it. */
export interface RecordedRefusal {
  readonly stack: string;
  /** Name of the source. */
  readonly source: string;
  /** The branch that was refused it; absent where another poll of the source has the stack. */
  readonly reference?: string;
}

/**
 * The stacks that are refused to sources, in the ledger at `path`, which is only read; none where there is
 * no ledger. Throws what reading a ledger throws, also for one of an earlier version.
 */
export function recordedRefusals(path: string, now: Date): RecordedRefusal[] {
  if (!existsNow(path)) return [];
  using database = new LedgerDatabase(path, { onlyReads: true });
  const polls = database.all(
    `SELECT DISTINCT content ->> '$.repository' AS source, each.value ->> '$.stack' AS stack
     FROM runs, json_each(content, '$.targets') AS each
     WHERE created_at >= ? AND each.value ->> '$.isOthers' ORDER BY stack`,
    now.getTime() - REFUSED_MS,
  );
  const owners = database.all(
    "SELECT source, reference, name AS stack FROM refused_owners ORDER BY name",
  );
  return [...polls, ...owners].map(({ stack, source, reference = null }) => ({
    ...{ stack: String(stack), source: String(source) },
    ...(reference === null ? {} : { reference: String(reference) }),
  }));
}
