import { formatOwner, type StackKey, type StackOwner } from "../model/mod.ts";
import type { Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** The owner of a stack as it is recorded. */
export interface RecordedOwner extends StackOwner {
  /** Whether a person handed the stack to it: then what labels say of the owner before is void. */
  readonly adopted: boolean;
}

/** Refused ones that are kept for each stack: whoever may push must not fill the disk. */
const MOST_REFUSED = 20;

/**
 * Remembers whose each stack is, also while it has no container, and who wanted it in vain: that is
 * whom a person may hand it to.
 */
export class Owners extends LedgerTable {
  /** Whose a stack is; `undefined` when that was never recorded. */
  get(key: StackKey): RecordedOwner | undefined {
    const row = this.database.rowOf("owners", key);
    return row && { ...toOwner(row), adopted: row["adopted"] === 1 };
  }

  /** Whose the stacks of that name in other contexts are. */
  elsewhere({ context, name }: StackKey): (StackOwner & { readonly context: string })[] {
    const sql = "SELECT * FROM owners WHERE name = ? AND context <> ? ORDER BY context";
    return this.database.all(sql, name, context)
      .map((row) => ({ ...toOwner(row), context: String(row["context"]) }));
  }

  /**
   * Records that a stack is deployed by `owner`. What is known more exactly stays, and so does another
   * owner: a person handed it over meanwhile.
   */
  settle(key: StackKey, owner: StackOwner): void {
    const known = this.get(key);
    const learns = known?.source === owner.source && known.reference === "" &&
      owner.reference !== "";
    if (!known || learns) this.#set(key, { ...owner, adopted: known?.adopted ?? false });
  }

  /**
   * A text that stays the same until a person hands a stack over, or that owner's branch is learned; of one
   * that is nobody's, until its name has an owner in another context.
   */
  mark(key: StackKey): string {
    const known = this.get(key);
    if (known === undefined) return this.elsewhere(key).map(formatOwner).join();
    return known.adopted ? formatOwner(known) : "";
  }

  /** Hands a stack to another owner because a person says so. Nobody is refused any more. */
  adopt(key: StackKey, owner: StackOwner): void {
    this.database.transaction(() => {
      this.#set(key, { ...owner, adopted: true });
      this.#forgetRefused(key);
    });
  }

  /** Forgets whose a stack was: it is gone. Call it inside a transaction. */
  remove(key: StackKey): void {
    this.database.removeRows("owners", key);
    this.#forgetRefused(key);
  }

  /** Remembers that somebody wanted a stack of another; writes only what is new. */
  refuse(key: StackKey, wanted: StackOwner): void {
    const known = this.refused(key);
    const isKnown = known.some((each) =>
      each.source === wanted.source && each.reference === wanted.reference
    );
    if (isKnown || known.length >= MOST_REFUSED) return;
    const { source, reference } = wanted;
    this.database.run(`INSERT INTO refused_owners VALUES (?, ?, ?, ?)`, key, source, reference);
  }

  /** Who wanted a stack in vain, sorted. */
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
