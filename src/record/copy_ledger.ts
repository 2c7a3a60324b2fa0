import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { errors, messageOf, StackwrightError } from "../model/mod.ts";
import { createPauses, type Files } from "../system/mod.ts";
import { knownVersion, SCHEMA_VERSION } from "./migrate_ledger.ts";

/**
 * Copies the ledger at `from`, as it is at this moment, to `to`, which must not exist; does nothing
 * when there is none. Leaves rows out that no plan reads, if the ledger is open elsewhere. Only
 * reads the original and its directory: looking at a ledger must neither migrate it nor leave files
 * that the service's user cannot write.
 *
 * Throws `ledger_unusable` when it cannot be read.
 */
export async function copyLedger(files: Files, from: string, to: string): Promise<void> {
  try {
    if (await files.stat(`${from}-wal`) !== undefined) return await copyOpenLedger(from, to);
    // No process has it open: opening it would leave a journal behind.
    const place = await files.realPath(from);
    if (place === undefined) return;
    await files.write(to, files.readInPieces(place), { mode: 0o600 });
  } catch (cause) {
    if (cause instanceof StackwrightError) throw cause;
    throw errors.ledger_unusable(`the ledger ${from} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Newest releases of each stack to copy, besides those that other rows refer to. */
const NEWEST = 10;
/** Releases that other rows refer to. */
const REFERRED = `SELECT release_id FROM stacks UNION SELECT release_id FROM pins
  UNION SELECT release_id FROM intents WHERE closed_at IS NULL`;
/** Rows to copy of the tables that are not copied whole: those that a plan reads. */
const ROWS: Readonly<Record<string, string>> = {
  runs: "WHERE false",
  restarts: "WHERE false",
  shown_trees: "WHERE false",
  noted_pulls: "WHERE false",
  found_commits: "WHERE false",
  decisions: "WHERE id IN (SELECT max(id) FROM decisions GROUP BY context, name)",
  intents: `WHERE closed_at IS NULL OR
    rowid IN (SELECT max(rowid) FROM intents GROUP BY context, name, kind, outcome) ORDER BY rowid`,
  releases: `AS r WHERE id IN (${REFERRED})
    OR id IN (SELECT sealed_in FROM releases WHERE id IN (${REFERRED}))
    OR number > (SELECT max(number) FROM releases WHERE context = r.context AND name = r.name) - ${NEWEST}`,
  release_contents: `WHERE release_id IN (
    SELECT id FROM releases WHERE id IN (${REFERRED})
    UNION SELECT sealed_in FROM releases WHERE id IN (${REFERRED}))`,
};
/** Characters to copy before the event loop gets a turn; each row adds `ROW` to its own. */
const AT_ONCE = 1024 * 1024;
const ROW = 4096;

/** A single transaction makes the copy consistent while other processes write. */
async function copyOpenLedger(from: string, to: string): Promise<void> {
  using database = new DatabaseSync(from, { readOnly: true });
  database.exec("BEGIN");
  if (knownVersion(database, from) === SCHEMA_VERSION) return await copyTables(database, to);
  // A ledger of an earlier version is copied whole, and the copy is migrated later.
  database.exec("COMMIT");
  database.prepare("VACUUM INTO ?").run(to);
}

async function copyTables(database: DatabaseSync, to: string): Promise<void> {
  using copy = new DatabaseSync(to);
  // An unfinished copy is thrown away, so it needs neither journal nor syncs.
  copy.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;");
  const made = database.prepare(
    `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
     ORDER BY type DESC`,
  ).all();
  for (const { sql } of made) copy.exec(String(sql));
  for (const { type, name } of made) {
    if (type === "table") await copyRows(database, copy, String(name));
  }
  copy.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

async function copyRows(database: DatabaseSync, copy: DatabaseSync, table: string): Promise<void> {
  const pauses = createPauses(AT_ONCE);
  let insert: ReturnType<DatabaseSync["prepare"]> | undefined;
  for (const row of database.prepare(`SELECT * FROM ${table} ${ROWS[table] ?? ""}`).iterate()) {
    const values = Object.values(row) as SQLInputValue[];
    const places = values.map(() => "?").join(", ");
    insert ??= copy.prepare(`INSERT INTO ${table} VALUES (${places})`);
    insert.run(...values);
    await pauses.after(values.reduce<number>((sum, each) => sum + lengthOf(each), ROW));
  }
}

function lengthOf(value: SQLInputValue): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}
