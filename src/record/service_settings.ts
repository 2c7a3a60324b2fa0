import { LedgerTable } from "./ledger_table.ts";

/** Records settings of the service that commands beside it have to follow, as texts by name. */
export class ServiceSettings extends LedgerTable {
  /** The value that the service was started with last; `undefined` when it never was. */
  get(name: string): string | undefined {
    const [row] = this.database.all(`SELECT value FROM service_settings WHERE name = ?`, name);
    return row && String(row["value"]);
  }

  /** Records a value that the service is started with; writes only changes. */
  set(name: string, value: string): void {
    if (this.get(name) === value) return;
    this.database.run(`INSERT OR REPLACE INTO service_settings VALUES (?, ?)`, name, value);
  }
}
