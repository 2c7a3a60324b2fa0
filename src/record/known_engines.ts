import type { LedgerDatabase, Row } from "./ledger_database.ts";

/** What an engine says that it is. */
export interface EngineIdentity {
  readonly id: string;
  /** The machine's name: copies of a machine have one id, and mostly names of their own. */
  readonly hostname?: string;
  /** Id of the swarm that it manages; empty otherwise. */
  readonly cluster: string;
}

/**
 * SQL for whether two engines with one id, of contexts `h` and `e`, are two by their names. A machine may
 * get another name, which one of its contexts tells before the others: each has to have said its own after
 * the other one had said its for the first time.
 */
const TWO = `h.hostname <> '' AND e.hostname <> '' AND h.hostname <> e.hostname
  AND h.said >= e.since AND e.said >= h.since`;

/**
 * SQL for other contexts `e` than a stack's (?1) that are known to lead to its engine, or to its swarm where the
 * stack of its name (?2) is one of a swarm, by its newest release. Without a release, it may be either.
 */
export const BESIDE: string = `engines h JOIN engines e ON e.context <> h.context
  AND h.context = ?1 AND (h.id <> '' AND e.id = h.id AND NOT (${TWO})
    OR h.cluster <> '' AND e.cluster = h.cluster AND coalesce(
      (SELECT facts ->> '$.swarm' IS NOT NULL FROM releases
       WHERE name = ?2 AND context IN (e.context, h.context)
       ORDER BY created_at DESC LIMIT 1), true))`;

/** The row of a context's engine; `undefined` where it has never said what it is. */
export function knownEngine(database: LedgerDatabase, context: string): Row | undefined {
  return database.all("SELECT * FROM engines WHERE context = ?", context)[0];
}

/**
 * Records what the engines of contexts have just said that they are, together. Writes only changes, and that
 * one said so again where another one with its id has a newer name, which may be its own by now.
 */
export function noteEngines(
  database: LedgerDatabase,
  told: ReadonlyMap<string, EngineIdentity>,
): void {
  const last = Number(database.all("SELECT max(said) AS last FROM engines")[0]?.["last"]);
  const newest = "SELECT coalesce(max(since), 0) AS since FROM engines WHERE id = ?";
  const note = (context: string, { id, hostname = "", cluster }: EngineIdentity, least = 0) => {
    const known = knownEngine(database, context);
    const isNamed = known?.["id"] === id && known["hostname"] === hostname;
    if (isNamed && known["cluster"] === cluster && Number(known["said"]) >= least) return;
    const since = isNamed ? Number(known["since"]) : last + 1;
    const sql = `INSERT OR REPLACE INTO engines (context, id, hostname, cluster, since, said)
      VALUES (?, ?, ?, ?, ?, ?)`;
    database.casually(() => database.run(sql, context, id, hostname, cluster, since, last + 1));
  };
  for (const [context, identity] of told) note(context, identity);
  for (const [context, identity] of told) {
    note(context, identity, Number(database.all(newest, identity.id)[0]?.["since"]));
  }
}
