import type { Clock } from "../system/mod.ts";
import type { LedgerDatabase } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** References of sources of which the newest commit is recorded. */
const MOST = 10_000;

/** Records the commits that references were last found at, by whichever process: each has to see the others'. */
export class FoundCommits extends LedgerTable {
  readonly #clock: Clock;

  constructor(database: LedgerDatabase, clock: Clock) {
    super(database);
    this.#clock = clock;
  }

  /** The commit of a reference, by a name of the caller's, and when it was asked for. */
  get(name: string): { readonly id: string; readonly asked: Date } | undefined {
    const [row] = this.#row(name);
    return row && { id: String(row["id"]), asked: new Date(Number(row["asked_at"])) };
  }

  /**
   * Records a commit, unless a later question was answered since. Writes changes alone, which a power cut may undo.
   * Where they cannot be written, as to a ledger that is only read, others do not see it.
   */
  note(name: string, id: string, asked: Date): void {
    const [row] = this.#row(name);
    const at = Number(row?.["asked_at"] ?? 0);
    // A later one than now was noted before a clock was set back.
    const isLate = at > asked.getTime() && at <= this.#clock.now().getTime();
    if (row?.["id"] === id || isLate) return;
    try {
      this.database.casually(() => {
        const sql = "INSERT OR REPLACE INTO found_commits VALUES (?, ?, ?)";
        this.database.run(sql, name, id, asked.getTime());
        this.database.run(
          `DELETE FROM found_commits WHERE rowid IN
             (SELECT rowid FROM found_commits ORDER BY rowid DESC LIMIT -1 OFFSET ${MOST})`,
        );
      });
    } catch {
      // Runs of this process know it all the same.
    }
  }

  #row(name: string) {
    return this.database.all("SELECT id, asked_at FROM found_commits WHERE name = ?", name);
  }
}
