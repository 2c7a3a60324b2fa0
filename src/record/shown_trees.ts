import type { StackKey } from "../model/mod.ts";
import { keyIn } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** Switches that are remembered of a stack: of a container that is older, no tree of its source goes. */
const MOST_SHOWN = 1000;

/** A tree that the containers of a stack saw, or see. */
interface ShownTree {
  readonly key: StackKey;
  /** Directory of the tree, relative to the data directory. */
  readonly tree: string;
  /** Just before it was put in place. */
  readonly beganAt: Date;
  /** Just after; absent when the process ended in between. */
  readonly doneAt?: Date;
}

/**
 * Which tree the files of a stack were at which time. A container keeps the tree it was started
 * with, and the engine does not tell which that was: with the time of its start this does.
 */
export class ShownTrees extends LedgerTable {
  /** Notes that a tree is about to be put in place. Call the result when it is. */
  begin(key: StackKey, tree: string, now: () => Date): () => void {
    const [last] = this.database.rowsOf("shown_trees", key, "ORDER BY id DESC LIMIT 1");
    if (last?.["tree"] === tree && last["done_at"] !== null) return () => {};
    let id = 0;
    this.database.transaction(() => {
      const sql = `INSERT INTO shown_trees (context, name, tree, began_at) VALUES (?, ?, ?, ?)`;
      this.database.run(sql, key, tree, now());
      id = Number(this.database.all(`SELECT last_insert_rowid() AS id`)[0]?.["id"]);
      this.database.keepNewest("shown_trees", key, MOST_SHOWN);
    });
    return () =>
      this.database.transaction(() =>
        this.database.run(`UPDATE shown_trees SET done_at = ? WHERE id = ?`, now(), id)
      );
  }

  /** The trees of a stack, in the order they were put in place; of every stack without a key. */
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

  /** Forgets trees that are gone. What came after one of them keeps its place in time. */
  forget(trees: readonly string[]): void {
    this.database.transaction(() => {
      for (const tree of trees) this.database.run(`DELETE FROM shown_trees WHERE tree = ?`, tree);
    });
  }
}
