import { LedgerTable } from "./ledger_table.ts";

/** Remembers settings of the service that commands beside it have to keep to, as texts by name. */
export class ServiceSettings extends LedgerTable {
  /** What the service was started with last; `undefined` where it never was. */
  get(name: string): string | undefined {
    const [row] = this.database.all(`SELECT value FROM service_settings WHERE name = ?`, name);
    return row && String(row["value"]);
  }

  /** Says what the service is started with; writes only what differs. */
  set(name: string, value: string): void {
    if (this.get(name) === value) return;
    this.database.run(`INSERT OR REPLACE INTO service_settings VALUES (?, ?)`, name, value);
  }
}
