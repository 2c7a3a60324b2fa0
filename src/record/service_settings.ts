import { LedgerTable } from "./ledger_table.ts";

/** Records what commands beside the service have to follow or to tell of it, as texts by name. */
export class ServiceSettings extends LedgerTable {
  /** The value that the service has set last; `undefined` when it never did. */
  get(name: string): string | undefined {
    const [row] = this.database.all(`SELECT value FROM service_settings WHERE name = ?`, name);
    return row && String(row["value"]);
  }

  /** Records a value, which a power cut may undo: the next start sets it again. Writes only changes. */
  set(name: string, value: string): void {
    if (this.get(name) === value) return;
    this.database.casually(() => {
      this.database.run(`INSERT OR REPLACE INTO service_settings VALUES (?, ?)`, name, value);
    });
  }
}
