import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { errors, messageOf, type StackKey, StackwrightError } from "../model/mod.ts";
import { identityNow, removeNow, replaceNow } from "../system/mod.ts";
import { damaged } from "./json_in.ts";
import type { StackTable } from "./ledger_schema.ts";
import { knownVersion, migrate, SCHEMA_VERSION } from "./migrate_ledger.ts";
import { openForReading } from "./open_for_reading.ts";

/** One row as SQLite gives it. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A parameter of a statement: a date stands for its milliseconds since 1970, `undefined` for NULL,
 * and a stack's key for two parameters, context and name.
 */
export type Value = SQLInputValue | Date | StackKey | undefined;

/** Values of a row by the names of its columns. */
type Columns = Readonly<Record<string, Value>>;

/**
 * Milliseconds to wait for other processes' locks on the ledger; this process stands still
 * meanwhile. After a write that waited too long the second one applies, until a write succeeds.
 */
const [BUSY_MS, HELD_MS] = [5000, 100] as const;
const IN_MEMORY = ":memory:";

/** Options for opening. */
export interface OpeningOptions {
  /** Called when the file was deleted while open, and was written anew. */
  readonly onRewritten?: () => void;
  /** Whether the file is only read, as it is: then every call that writes throws. */
  readonly onlyReads?: boolean;
}

/**
 * The ledger's SQLite file: WAL, durable when a call returns, errors as {@link StackwrightError}.
 *
 * Every call throws `data_dir_unusable` when the disk is full or read-only, and `ledger_unusable`
 * when the database is damaged.
 */
export class LedgerDatabase {
  readonly path: string;
  readonly #onRewritten: () => void;
  #database: DatabaseSync;
  /** Which file that is. */
  #file: string | undefined;
  /** Prepared statements by their text; this room has a fixed number of texts. */
  readonly #statements = new Map<string, StatementSync>();
  #isHeld = false;

  /** Opens, or makes, the database at `path`, and migrates it to the newest schema unless it is only read. */
  constructor(path: string, { onRewritten = () => {}, onlyReads = false }: OpeningOptions = {}) {
    this.path = path;
    this.#onRewritten = onRewritten;
    this.#database = this.#guard(() => onlyReads ? openForReading(path) : open(path));
    this.#guard(() => (onlyReads ? requireNewest : migrate)(this.#database, path));
    this.#file = identityNow(path);
  }

  /** Runs a statement that changes something. */
  run(sql: string, ...values: Value[]): void {
    this.#write(() => this.#statement(sql).run(...values.flatMap(inSql)));
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values.flatMap(inSql)));
  }

  /** Reads a stack's rows in a table; `rest` continues the condition and sets the order. */
  rowsOf(table: StackTable, key: StackKey, rest = "", ...values: Value[]): Row[] {
    return this.all(
      `SELECT * FROM ${table} WHERE context = ? AND name = ? ${rest}`,
      key,
      ...values,
    );
  }

  /** Reads a stack's row in a table with one row for each stack. */
  rowOf(table: StackTable, key: StackKey): Row | undefined {
    return this.rowsOf(table, key)[0];
  }

  /** Writes a stack's row in a table with one row for each stack; replaces an earlier row. */
  put(table: StackTable, key: StackKey, columns: Columns): void {
    this.#insert("INSERT OR REPLACE", table, { context: key.context, name: key.name, ...columns });
  }

  /** Adds a row to a table, of a stack. */
  add(table: StackTable, key: StackKey, columns: Columns): void {
    this.#insert("INSERT", table, { context: key.context, name: key.name, ...columns });
  }

  #insert(how: string, table: StackTable, columns: Columns): void {
    const places = Object.keys(columns).map(() => "?").join(", ");
    const sql = `${how} INTO ${table} (${Object.keys(columns).join(", ")}) VALUES (${places})`;
    this.run(sql, ...Object.values(columns));
  }

  removeRows(table: StackTable, key: StackKey): void {
    this.run(`DELETE FROM ${table} WHERE context = ? AND name = ?`, key);
  }

  /** Removes the oldest of a stack's rows in a table, beyond `most`. */
  keepNewest(table: StackTable, key: StackKey, most: number): void {
    const own = `SELECT rowid FROM ${table} WHERE context = ? AND name = ?`;
    const sql =
      `DELETE FROM ${table} WHERE rowid IN (${own} ORDER BY rowid DESC LIMIT -1 OFFSET ?)`;
    this.run(sql, key, most);
  }

  /** Makes several changes, all or none. */
  transaction<T>(work: () => T): T {
    return this.#write(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        this.#database.exec("COMMIT");
        return result;
      } catch (error) {
        // A failed COMMIT (full disk) may have ended the transaction already.
        if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  /** A transaction that does not wait for the disk: for changes that a power cut may undo. */
  casually(work: () => void): void {
    this.#guard(() => this.#database.exec("PRAGMA synchronous = NORMAL"));
    try {
      this.transaction(work);
    } finally {
      this.#guard(() => this.#database.exec("PRAGMA synchronous = FULL"));
    }
  }

  /** A number that changes when another connection, of any process, has changed the database. */
  foreignVersion(): number {
    return Number(this.all("PRAGMA data_version")[0]?.["data_version"]);
  }

  /** A text that changes with each change of the database, by this connection or another one. */
  version(): string {
    const sql = "SELECT total_changes() AS own, data_version AS others FROM pragma_data_version";
    return JSON.stringify(this.all(sql)[0]);
  }

  /** Proves that the database can be written, by taking the write lock. */
  checkWritable(): void {
    this.#write(() => this.#database.exec("BEGIN IMMEDIATE; ROLLBACK;"));
  }

  /** Closes the database. May be called twice. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Writes the database to a new file when its file was deleted. Changes to the open, deleted file
   * would be lost with this process, but all that it holds can still be read.
   *
   * Throws `data_dir_unusable` where another file is in its place: a copy that a person put back, which others
   * write to. This process decides by what it had read, and would write where nobody reads.
   */
  #requireFile(): void {
    if (this.path === IN_MEMORY || this.#database.isTransaction) return;
    const file = identityNow(this.path);
    if (file === this.#file) return;
    if (file !== undefined) throw replaced(this.path);
    const copy = `${this.path}.new`;
    removeNow(copy);
    this.#database.prepare("VACUUM INTO ?").run(copy);
    this.#database.close();
    this.#statements.clear();
    // Journals of the deleted file would be taken for those of the new one.
    for (const journal of ["-wal", "-shm"]) removeNow(this.path + journal);
    replaceNow(copy, this.path);
    this.#database = open(this.path);
    this.#file = identityNow(this.path);
    this.#onRewritten();
  }

  #statement(sql: string): StatementSync {
    return this.#statements.getOrInsertComputed(sql, () => this.#database.prepare(sql));
  }

  #write<T>(work: () => T): T {
    return this.#guard(() => {
      this.#requireFile();
      let isHeld = false;
      try {
        return work();
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

/** The stack's key in a row. */
export function keyIn(row: Row): StackKey {
  return { context: String(row["context"]), name: String(row["name"]) };
}

function open(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  // FULL, not NORMAL: an intent that a power cut can lose protects nothing.
  database.exec(
    // Set first: another process that creates the database at this moment holds its lock.
    `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ` +
      "PRAGMA foreign_keys = ON;",
  );
  return database;
}

/** Checks that a database that is only read needs no migration. Throws `data_dir_unusable`. */
function requireNewest(database: DatabaseSync, path: string): void {
  if (knownVersion(database, path) === SCHEMA_VERSION) return;
  throw errors.data_dir_unusable(
    `the ledger ${path} is of an earlier version, and the data directory must be writable and have ` +
      "free space before this one can read it",
  );
}

function replaced(path: string): StackwrightError {
  return errors.data_dir_unusable(
    `the ledger ${path} was replaced by another file while this process had it open, and nothing was ` +
      "written: restart the service, which goes on with the file that is there now (stop it before a copy " +
      "is put back the next time)",
  );
}

function isBusy(error: unknown): boolean {
  return !(error instanceof StackwrightError) && /\b(?:locked|busy)\b/i.test(messageOf(error));
}

/** The error as a {@link StackwrightError}; `check` throws what the ledger's version tells. */
function explain(error: unknown, path: string, check: () => unknown): StackwrightError {
  if (error instanceof StackwrightError) return error;
  const text = messageOf(error);
  if (/malformed|not a database|corrupt/i.test(text)) {
    return damaged(`ledger ${path} is damaged (${text})`, error);
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
