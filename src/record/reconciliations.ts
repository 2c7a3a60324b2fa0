import {
  type Drift,
  type EngineVerdict,
  formatStackKey,
  type FoundDrift,
  NO_DRIFT,
  type ReconciliationOptions,
  type StackKey,
} from "../model/mod.ts";
import { fittingText } from "./fitting.ts";
import { keyIn, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** Time for which a restart is remembered, in milliseconds: the longest window that makes sense. */
const KEPT_MS = 7 * 24 * 3600 * 1000;
/** Restarts of a stack that are remembered: ten of each container that it may have. */
const MOST_RESTARTS = 10_000;
/** What a swarm did that is remembered of a stack, and characters of each id: an engine says how long it is. */
const MOST_VERDICTS = 1000;
const LONGEST_ID = 300;

/** A container that was restarted because it was unhealthy. */
interface RestartedContainer {
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
export class Reconciliations extends LedgerTable {
  /** How a stack reacts; `undefined` where nobody has said yet. */
  get(key: StackKey): ReconciliationOptions | undefined {
    const row = this.database.rowOf("reconciliations", key);
    return row && { drift: "report", ...JSON.parse(String(row["options"])) };
  }

  /** Says how a stack reacts from now on; writes only what differs. */
  settle(key: StackKey, options: ReconciliationOptions): void {
    if (JSON.stringify(this.get(key)) === JSON.stringify(options)) return;
    this.database.put("reconciliations", key, { options: JSON.stringify(options) });
  }

  /** Number of times that a container was restarted since a moment. */
  restartsSince({ key, release, container }: RestartedContainer, since: Date): number {
    const [row] = this.database.all(
      `SELECT count(*) AS count FROM restarts
       WHERE context = ? AND name = ? AND release = ? AND container = ? AND at > ?`,
      key,
      release,
      container,
      since,
    );
    return Number(row?.["count"]);
  }

  /** Takes note of a restart, and forgets those of the stack of long ago. */
  noteRestart({ key, release, container }: RestartedContainer, at: Date): void {
    this.database.transaction(() => {
      const old = `DELETE FROM restarts WHERE context = ? AND name = ? AND at < ?`;
      this.database.run(old, key, at.getTime() - KEPT_MS);
      const sql =
        `INSERT INTO restarts (context, name, release, container, at) VALUES (?, ?, ?, ?, ?)`;
      this.database.run(sql, key, release, container, at);
      this.database.keepNewest("restarts", key, MOST_RESTARTS);
    });
  }

  /** What the last look found; `undefined` where nobody has looked. */
  drift(key: StackKey): FoundDrift | undefined {
    const row = this.database.rowOf("drift", key);
    return row && foundIn(row);
  }

  /** The same of every stack that was looked at, by its formatted key. */
  drifts(): ReadonlyMap<string, FoundDrift> {
    return new Map(
      this.database.all(`SELECT * FROM drift`).map((row) => [
        formatStackKey(keyIn(row)),
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
    this.database.put("drift", key, { found: JSON.stringify(found) });
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
    const verdicts = told.slice(0, MOST_VERDICTS).map(({ id }) => fittingText(id, LONGEST_ID));
    this.#note(key, { ...found, verdicts });
  }

  /** Forgets a stack. */
  remove(key: StackKey): void {
    for (const table of ["reconciliations", "restarts", "drift"] as const) {
      this.database.removeRows(table, key);
    }
  }
}

function foundIn(row: Row): FoundDrift {
  return JSON.parse(String(row["found"]));
}
