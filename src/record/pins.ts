import type { InputClosure, StackKey } from "../model/mod.ts";
import type { LedgerDatabase } from "./ledger_database.ts";

/** A stack that was put back to an earlier release on purpose. */
export interface Pin {
  readonly releaseId: string;
  /** Revision that was deployed or refused when it was put back: automatic work leaves that alone. */
  readonly revision: string;
  /** What that revision means to the stack, where it was ever rendered. */
  readonly refused?: RefusedRelease;
  readonly pinnedAt: Date;
}

/** What a person does not want: a commit that leads to the same is held back like it. */
export interface RefusedRelease {
  /** Digest of the release. */
  readonly digest: string;
  readonly closure: InputClosure;
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
      ...(row["refused"] === null ? {} : { refused: JSON.parse(String(row["refused"])) }),
      pinnedAt: new Date(Number(row["pinned_at"])),
    };
  }

  /** Pins a stack; an earlier pin is replaced. */
  set(key: StackKey, pin: Pin): void {
    this.#database.run(
      `INSERT OR REPLACE INTO pins (context, name, release_id, revision, pinned_at, refused)
       VALUES (?, ?, ?, ?, ?, ?)`,
      key.context,
      key.name,
      pin.releaseId,
      pin.revision,
      pin.pinnedAt.getTime(),
      pin.refused === undefined ? null : JSON.stringify(pin.refused),
    );
  }

  /** Removes the pin; false when there was none. */
  remove(key: StackKey): boolean {
    const had = this.get(key) !== undefined;
    this.#database.run(`DELETE FROM pins WHERE context = ? AND name = ?`, key.context, key.name);
    return had;
  }
}
