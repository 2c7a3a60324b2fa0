import type { LedgerDatabase } from "./ledger_database.ts";
import { jsonIn } from "./json_in.ts";
import { LedgerTable } from "./ledger_table.ts";
import type { Processes } from "./processes.ts";

/** Records, while images are pulled, which ones were there without a registry: afterwards nothing tells. */
export class NotedPulls extends LedgerTable {
  readonly #processes: Processes;
  /** Ids of those that this process is at. */
  readonly #underWay = new Set<number>();

  constructor(database: LedgerDatabase, processes: Processes) {
    super(database);
    this.#processes = processes;
  }

  /** The notes of one context. */
  of(context: string) {
    return {
      /** Notes images before a pull; call what it returns when that has ended, in whichever way. */
      begin: (images: readonly string[]): () => void => {
        const id = this.#add(context, images);
        this.#underWay.add(id);
        return () => void this.#underWay.delete(id);
      },
      /** The pulls of all processes; `isOver` where one has ended, also with its process. */
      all: (): { readonly id: number; readonly images: readonly string[]; isOver: boolean }[] =>
        this.database.all("SELECT * FROM noted_pulls WHERE context = ?", context).map((row) => {
          const [id, owner] = [Number(row["id"]), String(row["owner"])];
          const isOver = owner === this.#processes.own
            ? !this.#underWay.has(id)
            : !this.#processes.isAlive(owner);
          return { id, images: jsonIn(row, "images"), isOver };
        }),
      /** Forgets one of these. */
      forget: (id: number): void => this.database.run("DELETE FROM noted_pulls WHERE id = ?", id),
    };
  }

  #add(context: string, images: readonly string[]): number {
    const sql = "INSERT INTO noted_pulls (context, owner, images) VALUES (?, ?, ?) RETURNING id";
    return this.database.transaction(() => {
      this.#processes.enter();
      const values = [context, this.#processes.own, JSON.stringify(images)];
      return Number(this.database.all(sql, ...values)[0]?.["id"]);
    });
  }
}
