import type { StackKey } from "../model/mod.ts";
import { keyIn, type LedgerDatabase, type Row } from "./ledger_database.ts";

/** Newest releases to keep of a stack, whatever their status is. */
const RELEASES_PER_STACK = 100;
/** Good releases with different digests to keep beyond these: a person may roll back to them. */
const GOOD_RELEASES = 10;
/** Bytes of the newest releases to keep of a stack. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Good releases with different digests to keep whatever their size is: what runs, and the one before. */
const LAST_GOOD = 2;
/** Most releases to forget at once: those of an earlier version may be large. */
const MOST_AT_ONCE = 10;
/** Tables whose rows go with a forgotten stack; `shown_trees` and `owners` are kept. */
const OF_STACK = [
  ...["pins", "failures", "stops", "stopped_by_jobs", "holds", "refused_owners"],
  ...["reconciliations", "drift", "restarts", "intents", "decisions", "releases"],
];
/** Milliseconds for which a destroyed stack is remembered. */
const GONE_MS = 90 * 24 * 3600 * 1000;
/** Milliseconds for which a stack is remembered of which only decisions are recorded. */
const NEVER_MS = 7 * 24 * 3600 * 1000;
/** The repository that stack `o` was last deployed from: one configuration may discover stacks in many. */
const REPOSITORY = `coalesce(
  (SELECT facts ->> '$.revision.source.name' FROM releases
   WHERE context = o.context AND name = o.name ORDER BY number DESC LIMIT 1),
  (SELECT repository FROM owners WHERE context = o.context AND name = o.name), '')`;
/** Most stacks without a release to remember: repositories may name as many as they like. */
export const MOST_GONE = 1_000;

/**
 * Forgets the oldest releases of a stack and their intents: there may be so many, with so many bytes.
 * Keeps the current release, the one it is pinned to, those under way, the last good ones with
 * different digests, and releases with sealed models of these. Call it in a transaction of the ledger.
 */
export function forgetReleases(database: LedgerDatabase, stack: StackKey): void {
  const doomed = database.all(
    `WITH own AS (
       SELECT id, number, status, digest, sealed_in, sum(octet_length(facts) + octet_length(digests)
                + coalesce(octet_length(services) + octet_length(live) + octet_length(closure)
                           + octet_length(sealed), 0)
                + coalesce(octet_length(packed), 0) + coalesce(octet_length(taken), 0))
              OVER (ORDER BY number DESC) <= ? AS fits
       FROM releases LEFT JOIN release_contents ON release_id = id WHERE context = ? AND name = ?),
     good AS (SELECT max(number) AS number FROM own WHERE status = 'deployed' GROUP BY digest
              ORDER BY 1 DESC LIMIT ?),
     kept AS (
       SELECT id FROM own WHERE fits AND (number > (SELECT max(number) FROM own) - ?
                                          OR number IN (SELECT number FROM good))
       UNION SELECT id FROM own WHERE number IN (SELECT number FROM good ORDER BY 1 DESC LIMIT ?)
       UNION SELECT release_id FROM stacks WHERE context = ? AND name = ?
       UNION SELECT release_id FROM pins WHERE context = ? AND name = ?
       UNION SELECT release_id FROM intents WHERE context = ? AND name = ? AND closed_at IS NULL),
     needed AS (
       SELECT id FROM kept WHERE id IS NOT NULL
       UNION SELECT sealed_in FROM own WHERE sealed_in IS NOT NULL AND id IN (SELECT id FROM kept))
     SELECT id FROM own WHERE id NOT IN (SELECT id FROM needed) ORDER BY number LIMIT ?`,
    MOST_BYTES,
    stack,
    GOOD_RELEASES,
    RELEASES_PER_STACK,
    LAST_GOOD,
    stack,
    stack,
    stack,
    MOST_AT_ONCE,
  );
  for (const row of doomed) {
    const id = String(row["id"]);
    database.run(`DELETE FROM intents WHERE release_id = ?`, id);
    database.run(`DELETE FROM releases WHERE id = ?`, id);
  }
}

/**
 * Forgets stacks without a release: those destroyed or last decided about long ago, and the oldest
 * beyond {@link MOST_GONE}. Their owners and shown trees stay. Stacks that a person holds stay,
 * however many names come after them: they would be deployed otherwise. Stacks that wait for a
 * window stay as well, since nobody may ask for them again; of more than {@link MOST_GONE}, those
 * of the configuration with the most go, and of its repository with the most. Call it in a transaction
 * of the ledger; `now` is in milliseconds since 1970.
 */
export function forgetGoneStacks(database: LedgerDatabase, now: number): void {
  const gone = database.all(
    `SELECT g.context, g.name, max(g.at) AS at, max(g.kept) AS kept, w.repository IS NOT NULL AS waits,
            coalesce(w.repository, o.source,
              (SELECT coalesce(facts -> '$.configuration', facts -> '$.revision') ->> '$.source.name'
               FROM releases r WHERE r.context = g.context AND r.name = g.name
               ORDER BY number DESC LIMIT 1)) AS whose, w.reference FROM (
       SELECT d.context, d.name, d.last_at AS at, ? AS kept FROM decisions d
       JOIN (SELECT max(id) AS id FROM decisions GROUP BY context, name) n ON n.id = d.id
       UNION ALL SELECT context, name, coalesce(closed_at, ?), ? FROM intents
       UNION ALL SELECT DISTINCT context, name, 0, ? FROM deferred
       UNION ALL SELECT context, name, coalesce(until, ?), 0 FROM holds) g
     LEFT JOIN deferred w ON w.context = g.context AND w.name = g.name
     LEFT JOIN owners o ON o.context = g.context AND o.name = g.name
     LEFT JOIN stacks s ON s.context = g.context AND s.name = g.name
     WHERE s.release_id IS NULL
     GROUP BY g.context, g.name, w.repository, w.reference ORDER BY at DESC`,
    ...[NEVER_MS, now, GONE_MS, now, Number.MAX_SAFE_INTEGER],
  );
  const isOld = (row: Row) => Number(row["at"]) < now - Number(row["kept"]);
  const [old, late] = [gone.filter(isOld), gone.filter((row) => !isOld(row))];
  const beyond = [0, 1].map((waits) =>
    fairlyBeyond(database, late.filter((row) => row["waits"] === waits), MOST_GONE)
  );
  for (const row of [...old, ...beyond.flat()]) {
    const key = keyIn(row);
    const ofOne =
      `DELETE FROM deferred WHERE context = ? AND name = ? AND repository = ? AND reference = ?`;
    const asker = [String(row["whose"]), String(row["reference"])];
    if (row["waits"] === 1) database.run(ofOne, key, ...asker);
    if (database.rowOf("deferred", key) !== undefined) continue;
    for (const table of OF_STACK) {
      database.run(`DELETE FROM ${table} WHERE context = ? AND name = ?`, key);
    }
  }
  forgetOwners(database);
}

/**
 * Keeps owners of stacks without a release: volumes that may be left have no branch in their
 * labels. Of each branch and repository, the newest beyond {@link MOST_GONE} go, so new names push out
 * no known owner.
 */
function forgetOwners(database: LedgerDatabase): void {
  const [counted] = database.all(`SELECT count(*) AS count FROM owners`);
  if (Number(counted?.["count"]) <= MOST_GONE) return;
  database.run(
    `DELETE FROM owners WHERE rowid IN (SELECT id FROM (
       SELECT o.rowid AS id, row_number() OVER (PARTITION BY source, reference, repository
                                               ORDER BY o.rowid) AS place
       FROM owners o LEFT JOIN stacks s ON s.context = o.context AND s.name = o.name
       WHERE s.release_id IS NULL AND adopted = 0) WHERE place > ?)`,
    MOST_GONE,
  );
}

/** The rows beyond `most`, each the oldest of the owner with the most rows left, and of its repository with the most. */
function fairlyBeyond(database: LedgerDatabase, rows: readonly Row[], most: number): Row[] {
  if (rows.length <= most) return [];
  const of = `SELECT ${REPOSITORY} AS repository FROM (SELECT ? AS context, ? AS name) o`;
  const left = [...Map.groupBy(rows, (row) => row["whose"]).values()].map((own) => ({
    count: own.length,
    parts: [...Map.groupBy(own, (row) => database.all(of, keyIn(row))[0]?.["repository"]).values()],
  }));
  const beyond: Row[] = [];
  for (let count = rows.length; count > most; count--) {
    const [largest] = left.toSorted((a, b) => b.count - a.count);
    const [part] = largest?.parts.toSorted((a, b) => b.length - a.length) ?? [];
    const row = part?.pop();
    if (largest === undefined || row === undefined) break;
    largest.count--;
    beyond.push(row);
  }
  return beyond;
}
