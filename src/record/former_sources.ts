import type { StackKey } from "../model/mod.ts";
import type { LedgerDatabase } from "./ledger_database.ts";

/** Sources that the labels of a stack's things name, or what it was deployed from. */
export interface NamedSources {
  /** Those with the configuration. */
  readonly configurations: Iterable<string>;
  /** The deployed ones, of things that name no configuration. */
  readonly repositories: Iterable<string>;
}

/** Sources of each kind to keep for each stack. */
export const MOST_FORMER = 50;

/** Notes former sources of a stack that has an owner, as the newest ones; the oldest are forgotten. */
export function noteFormer(
  database: LedgerDatabase,
  of: keyof NamedSources,
  key: StackKey,
  sources: Iterable<string>,
): void {
  for (const each of sources) database.put(`former_${of}`, key, { repository: each });
  database.keepNewest(`former_${of}`, key, MOST_FORMER);
}

/** The former sources of a stack; the newest one comes first. They are forgotten with its owner. */
export function formerSources(
  database: LedgerDatabase,
  of: keyof NamedSources,
  key: StackKey,
): string[] {
  const rows = database.rowsOf(`former_${of}`, key, "ORDER BY rowid DESC");
  return rows.map((row) => String(row["repository"]));
}
