import type { StackKey } from "../model/mod.ts";
import { LedgerTable } from "./ledger_table.ts";

/** Remembers the stacks that a person stopped: nobody starts their containers but a person. */
export class Stops extends LedgerTable {
  /** Time at which a stack was stopped; `undefined` when it was not, or was started again. */
  get(key: StackKey): Date | undefined {
    const row = this.database.rowOf("stops", key);
    return row && new Date(Number(row["stopped_at"]));
  }

  /** Holds a stack as it is; one that is held stays so since then. */
  set(key: StackKey, at: Date): void {
    const sql = `INSERT OR IGNORE INTO stops (context, name, stopped_at) VALUES (?, ?, ?)`;
    this.database.run(sql, key, at);
  }

  /** Lets a stack go. */
  remove(key: StackKey): void {
    this.database.removeRows("stops", key);
  }
}
