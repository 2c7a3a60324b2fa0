import {
  type Drift,
  type EngineVerdict,
  formatStackKey,
  type FoundDrift,
  NO_DRIFT,
  type ReconciliationOptions,
  type StackKey,
} from "../model/mod.ts";
import type { LedgerDatabase, Row } from "./ledger_database.ts";

/** Time for which a restart is remembered, in milliseconds: the longest window that makes sense. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** A container that was restarted because it was unhealthy. */
export interface RestartedContainer {
  readonly key: StackKey;
  /** Digest of the release it belongs to: another release begins anew. */
  readonly release: string;
  /** Its name, which its successors have as well. */
  readonly container: string;
}

/**
 * Remembers how each stack reacts to what happens to its containers, as its deployed configuration
 * says, and which of them were restarted.
 */
export class Reconciliations {
  readonly #database: LedgerDatabase;

  constructor(database: LedgerDatabase) {
    this.#database = database;
  }

  /** How a stack reacts; `undefined` where nobody has said yet. */
  get(key: StackKey): ReconciliationOptions | undefined {
    const [row] = this.#database.all(
      `SELECT options FROM reconciliations WHERE context = ? AND name = ?`,
      key.context,
      key.name,
    );
    return row && { drift: "report", ...JSON.parse(String(row["options"])) };
  }

  /** Says how a stack reacts from now on; writes only what differs. */
  settle(key: StackKey, options: ReconciliationOptions): void {
    if (JSON.stringify(this.get(key)) === JSON.stringify(options)) return;
    this.#database.run(
      `INSERT INTO reconciliations (context, name, options) VALUES (?, ?, ?)
       ON CONFLICT (context, name) DO UPDATE SET options = excluded.options`,
      key.context,
      key.name,
      JSON.stringify(options),
    );
  }

  /** Number of times that a container was restarted since a moment. */
  restartsSince({ key, release, container }: RestartedContainer, since: Date): number {
    const [row] = this.#database.all(
      `SELECT count(*) AS count FROM restarts
       WHERE context = ? AND name = ? AND release = ? AND container = ? AND at > ?`,
      key.context,
      key.name,
      release,
      container,
      since.getTime(),
    );
    return Number(row?.["count"]);
  }

  /** Takes note of a restart, and forgets those of long ago. */
  noteRestart({ key, release, container }: RestartedContainer, at: Date): void {
    this.#database.transaction(() => {
      this.#database.run(`DELETE FROM restarts WHERE at < ?`, at.getTime() - KEPT_MS);
      this.#database.run(
        `INSERT INTO restarts (context, name, release, container, at) VALUES (?, ?, ?, ?, ?)`,
        key.context,
        key.name,
        release,
        container,
        at.getTime(),
      );
    });
  }

  /** What the last look found; `undefined` where nobody has looked. */
  drift({ context, name }: StackKey): FoundDrift | undefined {
    const sql = `SELECT found FROM drift WHERE context = ? AND name = ?`;
    const [row] = this.#database.all(sql, context, name);
    return row && foundIn(row);
  }

  /** The same of every stack that was looked at, by its formatted key. */
  drifts(): ReadonlyMap<string, FoundDrift> {
    return new Map(
      this.#database.all(`SELECT context, name, found FROM drift`).map((row) => [
        formatStackKey({ context: String(row["context"]), name: String(row["name"]) }),
        foundIn(row),
      ]),
    );
  }

  /** Takes note of what a look found; what a swarm did, and was told, stays. */
  noteDrift(key: StackKey, { count, fields, tried }: FoundDrift): void {
    this.#note(key, { ...this.drift(key), count, fields, tried });
  }

  /** Writes only what differs. */
  #note(key: StackKey, found: FoundDrift): void {
    if (JSON.stringify(this.drift(key)) === JSON.stringify(found)) return;
    this.#database.run(
      `INSERT INTO drift (context, name, found) VALUES (?, ?, ?)
       ON CONFLICT (context, name) DO UPDATE SET found = excluded.found`,
      key.context,
      key.name,
      JSON.stringify(found),
    );
  }

  /** Takes note that containers or services were replaced because of drift. */
  noteTried(key: StackKey, drift: readonly Drift[]): void {
    const found = this.drift(key);
    if (found === undefined) return;
    this.#note(key, { ...found, tried: [...found.tried, ...drift] });
  }

  /** Takes note that what a swarm did to services by itself was told. */
  noteVerdicts(key: StackKey, told: readonly EngineVerdict[] = []): void {
    const found = this.drift(key) ?? NO_DRIFT;
    if (told.length === 0 && found.verdicts === undefined) return;
    this.#note(key, { ...found, verdicts: told.map(({ id }) => id) });
  }

  /** Forgets a stack. */
  remove({ context, name }: StackKey): void {
    for (const table of ["reconciliations", "restarts", "drift"]) {
      this.#database.run(`DELETE FROM ${table} WHERE context = ? AND name = ?`, context, name);
    }
  }
}

function foundIn(row: Row): FoundDrift {
  return JSON.parse(String(row["found"]));
}
