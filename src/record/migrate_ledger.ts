import type { DatabaseSync } from "node:sqlite";
import { errors } from "../model/mod.ts";
import { MIGRATIONS } from "./ledger_schema.ts";

/** Version of the newest schema; kept in SQLite's `user_version`. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Migrates a database to {@link SCHEMA_VERSION}, by all steps that it lacks or by none.
 *
 * Throws `ledger_unusable` when a newer Stackwright wrote it: what that version added could be lost.
 */
export function migrate(database: DatabaseSync, path: string): void {
  if (knownVersion(database, path) === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated it while this one waited for the lock.
    const steps = MIGRATIONS.slice(knownVersion(database, path)).join("\n");
    // One transaction: all steps or none, and a single wait for the disk.
    database.exec(`${steps} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** The schema version of a database. Throws `ledger_unusable` for a newer Stackwright's. */
export function knownVersion(database: DatabaseSync, path: string): number {
  const row = database.prepare("PRAGMA user_version").get();
  const version = Number(row?.["user_version"] ?? 0);
  if (version <= SCHEMA_VERSION) return version;
  throw errors.ledger_unusable(
    `a newer Stackwright has used the ledger ${path}: it has schema ${version}, and this version knows ` +
      `up to ${SCHEMA_VERSION}. Restart the service, or call the command, with the newer version; to stay ` +
      "with this one, restore a backup that it made",
  );
}
