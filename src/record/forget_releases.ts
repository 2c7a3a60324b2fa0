import type { StackKey } from "../model/mod.ts";
import { keyIn, type LedgerDatabase } from "./ledger_database.ts";

/** Releases of a stack that are remembered whatever became of them. */
const RELEASES_PER_STACK = 100;
/** Good releases that differ and are remembered beyond those: what a person may go back to. */
const GOOD_RELEASES = 10;
/** Tables that have rows of a stack which is gone. */
const OF_STACK = ["pins", "failures", "stops", "holds", "intents", "decisions", "releases"];
/** Time for which what is left of a stack that was destroyed is remembered, in milliseconds. */
const GONE_MS = 90 * 24 * 3600 * 1000;

/**
 * Forgets the oldest releases of a stack and their intents. The current one stays, the one it is
 * pinned to, those under way, the last good ones that differ, and whatever these need. Belongs inside
 * a transaction of the ledger.
 */
export function forgetReleases(database: LedgerDatabase, stack: StackKey): void {
  const [counted] = database.all(
    `SELECT count(*) AS count FROM releases WHERE context = ? AND name = ?`,
    stack,
  );
  if (Number(counted?.["count"]) <= RELEASES_PER_STACK) return;
  const doomed = database.all(
    `WITH own AS (SELECT id, number, status, digest, sealed_in FROM releases
                  WHERE context = ? AND name = ?),
     kept AS (
       SELECT id FROM own WHERE number > (SELECT max(number) FROM own) - ?
       UNION SELECT id FROM own WHERE number IN (
         SELECT max(number) FROM own WHERE status = 'deployed' GROUP BY digest
         ORDER BY 1 DESC LIMIT ?)
       UNION SELECT release_id FROM stacks WHERE context = ? AND name = ?
       UNION SELECT release_id FROM pins WHERE context = ? AND name = ?
       UNION SELECT release_id FROM intents WHERE context = ? AND name = ? AND closed_at IS NULL),
     needed AS (
       SELECT id FROM kept WHERE id IS NOT NULL
       UNION SELECT sealed_in FROM own WHERE sealed_in IS NOT NULL AND id IN (SELECT id FROM kept))
     SELECT id FROM own WHERE id NOT IN (SELECT id FROM needed)`,
    stack,
    RELEASES_PER_STACK,
    GOOD_RELEASES,
    stack,
    stack,
    stack,
  );
  for (const row of doomed) {
    const id = String(row["id"]);
    database.run(`DELETE FROM intents WHERE release_id = ?`, id);
    database.run(`DELETE FROM releases WHERE id = ?`, id);
  }
}

/**
 * Forgets the stacks that were destroyed long ago, all but what trees they saw. Belongs inside a
 * transaction of the ledger; `now` is in milliseconds since 1970.
 */
export function forgetGoneStacks(database: LedgerDatabase, now: number): void {
  const gone = database.all(
    `SELECT i.context, i.name FROM intents i
     LEFT JOIN stacks s ON s.context = i.context AND s.name = i.name
     WHERE s.release_id IS NULL
     GROUP BY i.context, i.name
     HAVING max(coalesce(i.closed_at, ?)) < ?`,
    now,
    now - GONE_MS,
  );
  for (const row of gone) {
    for (const table of OF_STACK) {
      database.run(`DELETE FROM ${table} WHERE context = ? AND name = ?`, keyIn(row));
    }
  }
}
