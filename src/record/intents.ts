import { errors, type StackKey } from "../model/mod.ts";
import type { ProcessOwner } from "../system/mod.ts";
import { keyIn, type LedgerDatabase, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** Something about to change an engine. It is on disk before the first change. */
export interface Intent {
  readonly id: string;
  readonly key: StackKey;
  readonly kind: "deploy" | "destroy";
  /** The release being deployed; absent for a destroy. */
  readonly releaseId?: string;
  /**
   * What a destroy removes besides containers and networks; of a deploy, whether `removeOrphans`.
   */
  readonly options: Readonly<Record<string, boolean>>;
  /** Services of which a container ran when a deploy was begun; what it stops is started again. */
  readonly ranBefore: readonly string[];
}

/**
 * The ledger's table of intents. What writes belongs inside a transaction of the ledger; times are
 * milliseconds since 1970.
 */
export class Intents extends LedgerTable {
  readonly #owner: ProcessOwner;

  /** `owner` is this process: what others hold is theirs while they run. */
  constructor(database: LedgerDatabase, owner: ProcessOwner) {
    super(database);
    this.#owner = owner;
  }

  /** What was under way when its process ended, oldest first. */
  abandoned(): Intent[] {
    return this.#openRows().filter((row) => !this.#isElsewhere(row)).map(toIntent);
  }

  /** Everything that is under way, in this process or another, oldest first. */
  open(): Intent[] {
    return this.#openRows().map(toIntent);
  }

  /** The process that has a stack in its hands, if another one that still runs does. */
  heldElsewhere(key: StackKey): string | undefined {
    const row = this.#openOf(key).find((each) => this.#isElsewhere(each));
    return row && String(row["owner"]);
  }

  /** A text that differs as soon as something was begun or ended for a stack, by any process. */
  mark(key: StackKey): string {
    const [row] = this.database.rowsOf("intents", key, "ORDER BY rowid DESC LIMIT 1");
    return `${row?.["id"]} ${row?.["closed_at"]}`;
  }

  /**
   * What ended processes left open for a stack. Throws `conflict` while another process that still
   * runs has the stack in its hands.
   */
  leftOpen(key: StackKey): Intent[] {
    const rows = this.#openOf(key);
    const other = rows.find((row) => this.#isElsewhere(row));
    if (other === undefined) return rows.map(toIntent);
    throw errors.conflict(
      `another process (${other["owner"]}) is changing ${key.name}: try again when it is done`,
    );
  }

  /** Writes an intent down as held by this process. */
  add(intent: Intent, now: number): void {
    this.database.run(
      `INSERT INTO intents (id, context, name, kind, release_id, options, ran_before, owner, opened_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      intent.id,
      intent.key,
      intent.kind,
      intent.releaseId,
      JSON.stringify(intent.options),
      JSON.stringify(intent.ranBefore),
      this.#owner.id,
      now,
    );
  }

  /** Says how an intent ended; `message` is stored as it is. */
  finish(intent: Intent, outcome: string, message: string, now: number): void {
    const sql = `UPDATE intents SET closed_at = ?, outcome = ?, message = ? WHERE id = ?`;
    this.database.run(sql, now, outcome, message, intent.id);
  }

  #openRows(): Row[] {
    return this.database.all(
      `SELECT * FROM intents WHERE closed_at IS NULL ORDER BY opened_at, id`,
    );
  }

  #openOf(key: StackKey): Row[] {
    return this.database.rowsOf("intents", key, "AND closed_at IS NULL");
  }

  /** Whether an intent is in the hands of another process that runs. */
  #isElsewhere(row: Row): boolean {
    const owner = String(row["owner"]);
    return owner !== this.#owner.id && this.#owner.isAlive(owner);
  }
}

function toIntent(row: Row): Intent {
  return {
    id: String(row["id"]),
    key: keyIn(row),
    kind: row["kind"] === "destroy" ? "destroy" : "deploy",
    ...(row["release_id"] === null ? {} : { releaseId: String(row["release_id"]) }),
    options: JSON.parse(String(row["options"])),
    ranBefore: JSON.parse(String(row["ran_before"])),
  };
}
