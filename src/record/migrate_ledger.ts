import type { DatabaseSync } from "node:sqlite";
import { errors } from "../model/mod.ts";
import { INDEXES, missingTables, tableAgain } from "./ledger_schema.ts";

/**
 * Version of the schema; kept in SQLite's `user_version`. A change raises it, also one that only means
 * something else: a version before must not take what it does not know for its own.
 */
export const SCHEMA_VERSION = 36;

/** What each version changed of what was recorded before, besides adding to the schema. */
const CHANGES: Readonly<Record<number, string>> = {
  // What releases consist of lies apart from what lists tell of them.
  18: `
    INSERT INTO release_contents (release_id, services, live, closure, sealed)
      SELECT id, coalesce(facts ->> '$.services', '[]'),
             coalesce(facts ->> '$.live', '{"files":{},"directories":[]}'),
             coalesce(facts ->> '$.closure', '{"configuration":"","complete":false,"paths":{}}'), sealed
      FROM releases;
    UPDATE releases SET facts = json_remove(facts, '$.services', '$.live', '$.closure');
    ALTER TABLE releases DROP COLUMN sealed;
    UPDATE decisions
      SET details = json_object(
            'changes', json(coalesce(content ->> '$.changes', '[]')),
            'services', json(coalesce(content ->> '$.services', '[]'))),
          content = json_remove(content, '$.changes', '$.services');`,
  // What waits for a sync window is kept by who asks for it.
  26: tableAgain("deferred"),
  // Labels of volumes and networks name the repository of their first deployment for ever, which releases
  // may name no more.
  29: `
    INSERT OR IGNORE INTO former_repositories
      SELECT context, name, repository FROM owners WHERE repository <> '';
    INSERT OR IGNORE INTO former_repositories
      SELECT r.context, r.name, r.facts ->> '$.revision.source.name'
      FROM releases r JOIN owners o ON o.context = r.context AND o.name = r.name
      WHERE coalesce(r.facts ->> '$.owner.source', r.facts ->> '$.configuration.source.name',
                     r.facts ->> '$.revision.source.name') = o.source
        AND (o.reference = ''
          OR coalesce(r.facts ->> '$.owner.reference', '') IN ('', o.reference));
    UPDATE owners SET repository = coalesce(
      (SELECT facts ->> '$.revision.source.name' FROM releases r
       WHERE r.context = owners.context AND r.name = owners.name ORDER BY number DESC LIMIT 1),
      repository);
    UPDATE owners SET found = (
      SELECT d.content ->> '$.policy' IS NOT NULL AND d.content ->> '$.repository' <> d.source
      FROM discovered d WHERE d.context = owners.context AND d.name = owners.name);
    UPDATE owners SET found = 0 WHERE found IS NULL AND EXISTS (
      SELECT 1 FROM stacks s WHERE s.context = owners.context AND s.name = owners.name
        AND s.release_id IS NOT NULL);`,
  // What is asked about all releases of a stack is read from a few bytes of each.
  30: `
    UPDATE releases SET digests = (
      SELECT json_group_array(s.value ->> '$.digest')
      FROM release_contents c, json_each(c.services) s WHERE c.release_id = releases.id);`,
  // Names of engines are beside their ids.
  34: `
    UPDATE engines SET hostname = substr(id, instr(id, ' ') + 1), id = substr(id, 1, instr(id, ' ') - 1)
      WHERE instr(id, ' ') > 0;`,
};

/**
 * Migrates a database to {@link SCHEMA_VERSION}, wholly or not at all.
 *
 * Throws `ledger_unusable` when a newer Stackwright wrote it: what that version added could be lost.
 */
export function migrate(database: DatabaseSync, path: string): void {
  if (knownVersion(database, path) === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated it while this one waited for the lock.
    const steps = stepsSince(knownVersion(database, path), database);
    // One transaction: all steps or none, and a single wait for the disk.
    database.exec(`${steps} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function stepsSince(version: number, database: DatabaseSync): string {
  if (version === SCHEMA_VERSION) return "";
  const columns = database.prepare("SELECT name FROM pragma_table_info(?)");
  const found = (table: string) => new Set(columns.all(table).map(({ name }) => String(name)));
  const changes = Object.entries(CHANGES).filter(([each]) => version > 0 && Number(each) > version);
  return [...missingTables(found), ...changes.map(([, sql]) => sql), ...INDEXES].join("\n");
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
