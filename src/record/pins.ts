import type { StackKey } from "../model/mod.ts";
import type { LedgerDatabase } from "./ledger_database.ts";

/** A stack that was put back to an earlier release on purpose. */
export interface Pin {
  readonly releaseId: string;
  /** Revision that was deployed or refused when it was put back: automatic work leaves that alone. */
  readonly revision: string;
  readonly pinnedAt: Date;
}

/** Keeps automatic updates from undoing what a person put back. */
export class Pins {
  readonly #database: LedgerDatabase;

  constructor(database: LedgerDatabase) {
    this.#database = database;
  }

  /** The pin of a stack. */
  get(key: StackKey): Pin | undefined {
    const [row] = this.#database.all(
      `SELECT * FROM pins WHERE context = ? AND name = ?`,
      key.context,
      key.name,
    );
    return row && {
      releaseId: String(row["release_id"]),
      revision: String(row["revision"]),
      pinnedAt: new Date(Number(row["pinned_at"])),
    };
  }

  /** Pins a stack; an earlier pin is replaced. */
  set(key: StackKey, pin: Pin): void {
    this.#database.run(
      `INSERT OR REPLACE INTO pins VALUES (?, ?, ?, ?, ?)`,
      key.context,
      key.name,
      pin.releaseId,
      pin.revision,
      pin.pinnedAt.getTime(),
    );
  }

  /** Removes the pin; false when there was none. */
  remove(key: StackKey): boolean {
    const had = this.get(key) !== undefined;
    this.#database.run(`DELETE FROM pins WHERE context = ? AND name = ?`, key.context, key.name);
    return had;
  }
}
