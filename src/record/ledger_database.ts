import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { errors, messageOf, type StackKey, StackwrightError } from "../model/mod.ts";
import { existsNow, removeNow, replaceNow } from "../system/mod.ts";
import { knownVersion, migrate } from "./ledger_schema.ts";

/** One row as SQLite gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** Tables with columns `context` and `name`. */
type StackTable =
  | "decisions"
  | "deferred"
  | "discovered"
  | "drift"
  | "failures"
  | "holds"
  | "intents"
  | "owners"
  | "pins"
  | "reconciliations"
  | "refused_owners"
  | "restarts"
  | "shown_trees"
  | "stacks"
  | "stops";

/**
 * A value of a statement: an instant stands for its milliseconds since 1970, nothing for NULL, and the
 * key of a stack for two values, its context and its name.
 */
export type Value = SQLInputValue | Date | StackKey | undefined;

/**
 * Time for which others may hold the ledger, in milliseconds: everything stands still meanwhile. Once that
 * was not enough, the second time counts, until somebody could write again.
 */
const [BUSY_MS, HELD_MS] = [5000, 100] as const;
/** Path of a database that has no file. */
const IN_MEMORY = ":memory:";

/**
 * The ledger's SQLite file: WAL, durable when a call returns, errors in our words.
 *
 * Every call throws `data_dir_unusable` when the disk is full or read-only, and `ledger_unusable`
 * when the database is damaged.
 */
export class LedgerDatabase {
  readonly path: string;
  readonly #onRewritten: () => void;
  #database: DatabaseSync;
  /** By their text, of which there are as many as there are in this room. */
  readonly #statements = new Map<string, StatementSync>();
  #isHeld = false;

  /**
   * Opens, or makes, the database at `path` and brings it to the newest schema. `onRewritten` is told
   * when the file was deleted meanwhile and had to be written anew.
   */
  constructor(path: string, onRewritten: () => void = () => {}) {
    this.path = path;
    this.#onRewritten = onRewritten;
    this.#database = this.#guard(() => open(path));
    this.#guard(() => migrate(this.#database, path));
  }

  /** Changes something. */
  run(sql: string, ...values: Value[]): void {
    this.#write(() => this.#statement(sql).run(...values.flatMap(inSql)));
  }

  /** Reads rows. */
  all(sql: string, ...values: Value[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values.flatMap(inSql)));
  }

  /** Reads the rows that a table has about a stack; `rest` says which, and in what order. */
  rowsOf(table: StackTable, key: StackKey, rest = "", ...values: Value[]): Row[] {
    return this.all(
      `SELECT * FROM ${table} WHERE context = ? AND name = ? ${rest}`,
      key,
      ...values,
    );
  }

  /** Reads the row of a stack in a table that has one for each. */
  rowOf(table: StackTable, key: StackKey): Row | undefined {
    return this.rowsOf(table, key)[0];
  }

  /** Writes the row of a stack in such a table, in the place of the one before. */
  put(table: StackTable, key: StackKey, columns: Readonly<Record<string, Value>>): void {
    const names = ["context", "name", ...Object.keys(columns)];
    const places = names.map(() => "?").join(", ");
    const sql = `INSERT OR REPLACE INTO ${table} (${names.join(", ")}) VALUES (${places})`;
    this.run(sql, key, ...Object.values(columns));
  }

  /** Removes what a table has about a stack. */
  removeRows(table: StackTable, key: StackKey): void {
    this.run(`DELETE FROM ${table} WHERE context = ? AND name = ?`, key);
  }

  /** Removes the oldest of the rows that a table has about a stack, beyond so many. */
  keepNewest(table: StackTable, key: StackKey, most: number): void {
    const own = `SELECT rowid FROM ${table} WHERE context = ? AND name = ?`;
    const sql =
      `DELETE FROM ${table} WHERE rowid IN (${own} ORDER BY rowid DESC LIMIT -1 OFFSET ?)`;
    this.run(sql, key, most);
  }

  /** Does several changes, all or none. */
  transaction(work: () => void): void {
    this.#write(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        work();
        this.#database.exec("COMMIT");
      } catch (error) {
        // A failed COMMIT (full disk) may have ended the transaction already.
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  /** The same without waiting for the disk: for what may be lost in a power cut. */
  casually(work: () => void): void {
    this.#guard(() => this.#database.exec("PRAGMA synchronous = NORMAL"));
    try {
      this.transaction(work);
    } finally {
      this.#guard(() => this.#database.exec("PRAGMA synchronous = FULL"));
    }
  }

  /** A number that changes when another connection, of whatever process, has changed something. */
  foreignVersion(): number {
    return Number(this.all("PRAGMA data_version")[0]?.["data_version"]);
  }

  /** Proves that the database can be written, by taking the write lock. */
  checkWritable(): void {
    this.#write(() => this.#database.exec("BEGIN IMMEDIATE; ROLLBACK;"));
  }

  /** Closes the database. May be called twice. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  /**
   * What is written into a file without a name is lost with this process. All of it can still be read,
   * so it is written to a new file before anything is added.
   */
  #requireFile(): void {
    if (this.path === IN_MEMORY || this.#database.isTransaction) return;
    if (existsNow(this.path)) return;
    const copy = `${this.path}.new`;
    removeNow(copy);
    this.#database.prepare("VACUUM INTO ?").run(copy);
    this.#database.close();
    this.#statements.clear();
    // Journals of the file that is gone would be taken for the new one's.
    for (const journal of ["-wal", "-shm"]) removeNow(this.path + journal);
    replaceNow(copy, this.path);
    this.#database = open(this.path);
    this.#onRewritten();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #write(work: () => unknown): void {
    this.#guard(() => {
      this.#requireFile();
      let isHeld = false;
      try {
        work();
      } catch (error) {
        isHeld = isBusy(error);
        throw error;
      } finally {
        const ms = isHeld ? HELD_MS : BUSY_MS;
        if (isHeld !== this.#isHeld) this.#database.exec(`PRAGMA busy_timeout = ${ms}`);
        this.#isHeld = isHeld;
      }
    });
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explain(error, this.path, () => knownVersion(this.#database, this.path));
    }
  }
}

function inSql(value: Value): SQLInputValue[] {
  if (value instanceof Date) return [value.getTime()];
  if (typeof value === "object" && value !== null && "context" in value) {
    return [value.context, value.name];
  }
  return [value ?? null];
}

/** The key of the stack that a row is about. */
export function keyIn(row: Row): StackKey {
  return { context: String(row["context"]), name: String(row["name"]) };
}

function open(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  // FULL, not NORMAL: an intent that a power cut can lose protects nothing.
  database.exec(
    // First, because whoever else opens a new one at this moment holds it.
    `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ` +
      "PRAGMA foreign_keys = ON;",
  );
  return database;
}

function isBusy(error: unknown): boolean {
  return !(error instanceof StackwrightError) && /\b(?:locked|busy)\b/i.test(messageOf(error));
}

/** The error in our words; `check` throws what is known of the ledger besides. */
function explain(error: unknown, path: string, check: () => unknown): StackwrightError {
  if (error instanceof StackwrightError) return error;
  const text = messageOf(error);
  if (/malformed|not a database|corrupt/i.test(text)) {
    return errors.ledger_unusable(
      `the ledger ${path} is damaged (${text}): stop Stackwright and restore state.db from a backup; ` +
        `without one, move it away and the stacks are adopted again at the next poll`,
      { cause: error },
    );
  }
  if (isBusy(error)) {
    return errors.data_dir_unusable(
      `the ledger ${path} is held by another process for longer than ${BUSY_MS / 1000} seconds ` +
        `(${text}), and nothing was written: end what has it open, such as a shell of SQLite or a backup`,
      { cause: error },
    );
  }
  try {
    check();
  } catch (known) {
    if (known instanceof StackwrightError) return known;
  }
  return errors.data_dir_unusable(
    `the ledger ${path} cannot be used (${text}): the data directory must be writable and have free space`,
    { cause: error },
  );
}
