import { type Release, StackwrightError } from "../model/mod.ts";
import type { InstanceKey } from "./instance_key.ts";
import type { LedgerDatabase, Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** The sealed parts of the recorded releases: models and variables, which may hold secrets. */
export class SealedModels extends LedgerTable {
  readonly #key: InstanceKey;

  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.#key = key;
  }

  /** The model and the variables of a release. Throws `not_found` when it is gone. */
  open(id: string): Pick<Release, "model" | "invocation"> {
    const row = this.#row(id);
    if (row === undefined) {
      throw new StackwrightError("not_found", `release ${id} is not in ${this.database.path}`);
    }
    return JSON.parse(this.#key.open(row["sealed"] as Uint8Array));
  }

  /** The row with the sealed part of a release, which may be that of an equal one before. */
  #row(id: string): Row | undefined {
    return this.database.all(
      `SELECT o.id, o.sealed FROM releases r JOIN releases o ON o.id = coalesce(r.sealed_in, r.id)
       WHERE r.id = ?`,
      id,
    )[0];
  }

  /** The release that has the model and variables of `release` already, if the current one does. */
  equal({ key, digest, model, invocation }: Release): string | undefined {
    const [current] = this.database.all(
      `SELECT r.id FROM stacks s JOIN releases r ON r.id = s.release_id
       WHERE s.context = ? AND s.name = ? AND r.digest = ?`,
      key,
      digest,
    );
    const row = current && this.#row(String(current["id"]));
    if (row === undefined) return undefined;
    try {
      const text = this.#key.open(row["sealed"] as Uint8Array);
      return text === JSON.stringify({ model, invocation }) ? String(row["id"]) : undefined;
    } catch {
      // Sealed with a key that is lost: this one is written whole, and can be opened.
      return undefined;
    }
  }

  /** The model and the variables of a release, sealed. */
  seal({ model, invocation }: Release): Uint8Array {
    return this.#key.seal(JSON.stringify({ model, invocation }));
  }
}
