import type { StackKey } from "../model/mod.ts";
import { jsonIn } from "./json_in.ts";
import { LedgerTable } from "./ledger_table.ts";

/** Records the stacks that a person stopped: only a person starts their containers again. */
export class Stops extends LedgerTable {
  /** Time at which a stack was stopped; `undefined` when it was not, or was started again. */
  get(key: StackKey): Date | undefined {
    const row = this.database.rowOf("stops", key);
    return row && new Date(Number(row["stopped_at"]));
  }

  /** Orphans, by service, that did not run any more when a stack was stopped; `undefined` as above. */
  idle(key: StackKey): readonly string[] | undefined {
    const row = this.database.rowOf("stops", key);
    return row && jsonIn(row, "idle");
  }

  /** Records that a stack is stopped; a stack stopped before keeps its time and `idle` orphans. */
  set(key: StackKey, at: Date, idle: readonly string[] = []): void {
    const sql = `INSERT OR IGNORE INTO stops (context, name, stopped_at, idle) VALUES (?, ?, ?, ?)`;
    this.database.run(sql, key, at, JSON.stringify(idle));
  }

  remove(key: StackKey): void {
    this.database.removeRows("stops", key);
  }
}
