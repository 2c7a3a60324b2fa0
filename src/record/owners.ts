import { formatOwner, type StackKey, type StackOwner } from "../model/mod.ts";
import type { Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** A recorded owner of a stack. */
export interface RecordedOwner extends StackOwner {
  /** Whether a person handed the stack over: then labels that name the previous owner are void. */
  readonly adopted: boolean;
}

/** Refused claimants to keep for each stack: whoever may push must not fill the disk. */
const MOST_REFUSED = 20;

/**
 * Records the owner of each stack, also while it has no containers, and the claimants that were
 * refused: a person may hand the stack to one of them.
 */
export class Owners extends LedgerTable {
  /** The owner of a stack; `undefined` when none was recorded. */
  get(key: StackKey): RecordedOwner | undefined {
    const row = this.database.rowOf("owners", key);
    return row && { ...toOwner(row), adopted: row["adopted"] === 1 };
  }

  /** The owners of stacks with the same name in other contexts. */
  elsewhere({ context, name }: StackKey): (StackOwner & { readonly context: string })[] {
    const sql = "SELECT * FROM owners WHERE name = ? AND context <> ? ORDER BY context";
    return this.database.all(sql, name, context)
      .map((row) => ({ ...toOwner(row), context: String(row["context"]) }));
  }

  /**
   * Records that `owner` deploys a stack. Adds a branch where only the source was known. Another
   * recorded owner stays: a person has handed the stack over meanwhile.
   */
  settle(key: StackKey, owner: StackOwner): void {
    const known = this.get(key);
    const learns = known?.source === owner.source && known.reference === "" &&
      owner.reference !== "";
    if (!known || learns) this.#set(key, { ...owner, adopted: known?.adopted ?? false });
  }

  /**
   * A text that changes when a person hands a stack over, or when such an owner's branch is
   * learned; for a stack without an owner, when its name gets an owner in another context.
   */
  mark(key: StackKey): string {
    const known = this.get(key);
    if (known === undefined) return this.elsewhere(key).map(formatOwner).join();
    return known.adopted ? formatOwner(known) : "";
  }

  /**
   * Hands a stack to another owner, as a person asked. Forgets the refused claimants. Call it in a
   * transaction of the ledger.
   */
  adopt(key: StackKey, owner: StackOwner): void {
    this.#set(key, { ...owner, adopted: true });
    this.#forgetRefused(key);
  }

  /** Forgets the owner of a removed stack. Call it in a transaction of the ledger. */
  remove(key: StackKey): void {
    this.database.removeRows("owners", key);
    this.#forgetRefused(key);
  }

  /** Records a claimant that was refused; writes only new ones. */
  refuse(key: StackKey, wanted: StackOwner): void {
    const known = this.refused(key);
    const isKnown = known.some((each) =>
      each.source === wanted.source && each.reference === wanted.reference
    );
    if (isKnown || known.length >= MOST_REFUSED) return;
    const { source, reference } = wanted;
    this.database.run(`INSERT INTO refused_owners VALUES (?, ?, ?, ?)`, key, source, reference);
  }

  /** The claimants that were refused, sorted. */
  refused(key: StackKey): StackOwner[] {
    return this.database.rowsOf("refused_owners", key, "ORDER BY source, reference").map(toOwner);
  }

  #set(key: StackKey, { source, reference, adopted }: RecordedOwner): void {
    this.database.put("owners", key, { source, reference, adopted: adopted ? 1 : 0 });
  }

  #forgetRefused(key: StackKey): void {
    this.database.removeRows("refused_owners", key);
  }
}

function toOwner(row: Row): StackOwner {
  return { source: String(row["source"]), reference: String(row["reference"]) };
}
