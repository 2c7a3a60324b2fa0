import type { StackKey } from "../model/mod.ts";
import { keyIn } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** Switches to remember of a stack; while an older container runs, no tree of its sources is removed. */
const MOST_SHOWN = 1000;

/** A tree that containers of a stack see or saw. */
interface ShownTree {
  readonly key: StackKey;
  /** Directory of the tree, relative to the data directory. */
  readonly tree: string;
  /** Time just before the switch to the tree. */
  readonly beganAt: Date;
  /** Time just after the switch; absent when the process ended in between. */
  readonly doneAt?: Date;
}

/**
 * The trees that the files of a stack were, with times. A container keeps the tree it was started
 * with, and only its start time tells which one that was.
 */
export class ShownTrees extends LedgerTable {
  /** Records that a switch to a tree begins. Call the returned function when it is done. */
  begin(key: StackKey, tree: string, now: () => Date): () => void {
    const [last] = this.database.rowsOf("shown_trees", key, "ORDER BY id DESC LIMIT 1");
    if (last?.["tree"] === tree && last["done_at"] !== null) return () => {};
    const id = this.database.transaction(() => {
      this.database.add("shown_trees", key, { tree, began_at: now() });
      const [row] = this.database.all(`SELECT last_insert_rowid() AS id`);
      this.database.keepNewest("shown_trees", key, MOST_SHOWN);
      return Number(row?.["id"]);
    });
    return () =>
      this.database.transaction(() =>
        this.database.run(`UPDATE shown_trees SET done_at = ? WHERE id = ?`, now(), id)
      );
  }

  /** The trees of a stack, in order of their switches; those of every stack without a key. */
  of(key?: StackKey): ShownTree[] {
    const rows = key === undefined
      ? this.database.all(`SELECT * FROM shown_trees ORDER BY id`)
      : this.database.rowsOf("shown_trees", key, "ORDER BY id");
    return rows.map((row) => ({
      key: keyIn(row),
      tree: String(row["tree"]),
      beganAt: new Date(Number(row["began_at"])),
      ...(row["done_at"] === null ? {} : { doneAt: new Date(Number(row["done_at"])) }),
    }));
  }

  /** Forgets removed trees; the times of other trees stay. */
  forget(trees: readonly string[]): void {
    this.database.transaction(() => {
      for (const tree of trees) this.database.run(`DELETE FROM shown_trees WHERE tree = ?`, tree);
    });
  }
}
