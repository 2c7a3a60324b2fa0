import { type AdoptionNotes, errors, type StackKey, type StackOwner } from "../model/mod.ts";
import { keyIn, type LedgerDatabase, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";
import { jsonIn } from "./json_in.ts";
import { type Processes, shownProcess } from "./processes.ts";

/** A change of an engine that is about to begin. It is on disk before the first change. */
export interface Intent {
  readonly id: string;
  readonly key: StackKey;
  readonly kind: "deploy" | "destroy";
  /** The release being deployed; absent for a destroy. */
  readonly releaseId?: string;
  /** The owner in whose name a stack is destroyed; a release names its own. Earlier versions recorded none. */
  readonly by?: StackOwner | undefined;
  /**
   * What a destroy removes besides containers and networks; `removeOrphans` of a deploy, `undoes` of one that
   * removes what the current release has added, and `starts` of one whose success ends a person's stop.
   */
  readonly options: Readonly<Record<string, boolean>>;
  /** Services that ran when a deploy began; those that it stops are started again. */
  readonly ranBefore: readonly string[];
  /** Services of a deploy's release that were kept orphans before: taking it back leaves their containers. */
  readonly orphans?: readonly string[] | undefined;
  /** What a deploy stops for good and copies first; nothing when absent. */
  readonly adoption?: AdoptionNotes | undefined;
  /** Whether its release is deployed, and only what that has replaced is left to be tidied up. */
  readonly isDone?: boolean;
}

/** How deployments end that leave nothing stopped or half copied: done, or put back. */
const SETTLED = ["succeeded", "rolled_back"];

/** Owner of an open intent that a running process gave back: whoever looks at the stack next takes it up. */
const ANYBODY = "anybody";

/** The ledger's intents. Writing methods belong in a transaction; times are milliseconds since 1970. */
export class Intents extends LedgerTable {
  readonly #processes: Processes;
  /** Ids of those that work of this process is at. In memory: what ends with a full disk cannot be written. */
  readonly #atWork = new Set<string>();

  /** Intents of other processes are theirs as long as these run. */
  constructor(database: LedgerDatabase, processes: Processes) {
    super(database);
    this.#processes = processes;
  }

  /** All open intents, of this process or others, oldest first. */
  open(): Intent[] {
    return this.#openRows().map(toIntent);
  }

  /** Whether a stack has an open intent, of this process or others; only of `kind` where that is given. */
  isOpen(key: StackKey, kind?: Intent["kind"]): boolean {
    const open = this.#openOf(key).map(toIntent);
    return open.some((each) => kind === undefined || each.kind === kind);
  }

  /** Whether work on a stack ended in the middle, with its process or without; see {@link interrupted}. */
  isCutOff(key: StackKey): boolean {
    return this.#openOf(key).some((row) => this.#isOver(row));
  }

  /** Another running process that is changing a stack, for people; `undefined` when there is none. */
  heldElsewhere(key: StackKey): string | undefined {
    const row = this.#openOf(key).find((each) => this.#isElsewhere(each));
    return row && shownProcess(String(row["owner"]));
  }

  /** A text that changes when any process begins or ends an intent of a stack. */
  mark(key: StackKey): string {
    const [row] = this.database.rowsOf("intents", key, "ORDER BY rowid DESC LIMIT 1");
    return `${row?.["id"]} ${row?.["closed_at"]}`;
  }

  /** Whether the last change of a stack is a destroy that failed, or was cut off. */
  leftDestroy(key: StackKey): boolean {
    const [row] = this.database.rowsOf("intents", key, "ORDER BY rowid DESC LIMIT 1");
    return row?.["kind"] === "destroy" && row["outcome"] !== "succeeded";
  }

  /**
   * The last deployment of a stack, unless it, or a removal since, came to its end: what it stopped and
   * copied is still as it left it, whoever closed it. It has taken over what those before it left.
   */
  unsettled(key: StackKey): Intent | undefined {
    const which = `AND (kind = 'deploy' OR outcome = 'succeeded') ORDER BY rowid DESC LIMIT 1`;
    const [row] = this.database.rowsOf("intents", key, which);
    return row === undefined || SETTLED.includes(String(row["outcome"]))
      ? undefined
      : toIntent(row);
  }

  /** Open intents of a stack. Throws `conflict` while another process changes it. */
  leftOpen(key: StackKey): Intent[] {
    const other = this.heldElsewhere(key);
    if (other === undefined) return this.#openOf(key).map(toIntent);
    throw errors.conflict(
      `another process (${other}) is changing ${key.name}: try again when it is done`,
    );
  }

  /** Those of {@link interrupted} of a stack. */
  ended(key: StackKey): Intent[] {
    return this.#openOf(key).filter((row) => this.#isOver(row)).map(toIntent);
  }

  /** Open intents that no work is at any more, oldest first: their processes or their work have ended. */
  interrupted(): Intent[] {
    return this.#openRows().filter((row) => this.#isOver(row)).map(toIntent);
  }

  /** Records an intent that work of this process is at from now on. */
  add(intent: Intent, now: number): void {
    this.#processes.enter();
    this.#atWork.add(intent.id);
    const { id, key, kind, releaseId, by } = intent;
    this.database.add("intents", key, {
      ...{ id, kind, release_id: releaseId, options: optionsText(intent) },
      ...{ ran_before: JSON.stringify(intent.ranBefore), owner: this.#processes.own },
      ...{ opened_at: now, in_name_of: by && JSON.stringify(by) },
    });
  }

  /** Makes one of {@link interrupted} an intent of this process, see {@link atWork}. */
  takeUp({ id }: Intent): void {
    this.#processes.enter();
    this.database.run(`UPDATE intents SET owner = ? WHERE id = ?`, this.#processes.own, id);
  }

  /** Says that work of this process is at an intent from now on, which is recorded as its own. Writes nothing. */
  atWork({ id }: Intent): void {
    this.#atWork.add(id);
  }

  /** Says that no work of this process is at an intent any more. Writes nothing. */
  rest({ id }: Intent): void {
    this.#atWork.delete(id);
  }

  /** Whether an intent is not closed yet. */
  isStillOpen({ id }: Intent): boolean {
    return this.#openRows().some((row) => row["id"] === id);
  }

  /** Leaves an intent that no work of this process is at also to other processes. */
  leave({ id }: Intent): void {
    const sql = `UPDATE intents SET owner = ? WHERE id = ? AND owner = ?`;
    this.database.run(sql, ANYBODY, id, this.#processes.own);
  }

  /** Records what an open deploy stops for good and copies. */
  noteAdoption(intent: Intent, adoption: AdoptionNotes | undefined): void {
    const sql = `UPDATE intents SET options = ? WHERE id = ?`;
    this.database.run(sql, optionsText({ ...intent, adoption }), intent.id);
  }

  /** Records that a person stopped the stack since a deploy began that was to start it. */
  noteNoStart(intent: Intent): void {
    const options = { ...intent.options, starts: false };
    this.noteAdoption({ ...intent, options }, intent.adoption);
  }

  /** Records which of the services that ran before a deploy it may have stopped. */
  noteStopped({ id }: Pick<Intent, "id">, services: readonly string[]): void {
    this.database.run(
      `UPDATE intents SET ran_before = ? WHERE id = ?`,
      JSON.stringify(services),
      id,
    );
  }

  /** Records that a deploy succeeded, whose work goes on with tidying up: others wait until {@link close}. */
  noteDone({ id }: Intent, message: string): void {
    const sql = `UPDATE intents SET outcome = 'succeeded', message = ? WHERE id = ?`;
    this.database.run(sql, message, id);
  }

  /** Closes a deploy that {@link noteDone} has noted. */
  close({ id }: Intent, now: number): void {
    this.database.run(`UPDATE intents SET closed_at = ? WHERE id = ?`, now, id);
  }

  /**
   * Records how an intent ended; `message` is stored as it is. Of a stack's removals, those before that
   * ended alike are forgotten: one that fails is tried for ever, and no release takes them with it.
   */
  finish({ id, key, kind }: Intent, outcome: string, message: string, now: number): void {
    const sql = `UPDATE intents SET closed_at = ?, outcome = ?, message = ? WHERE id = ?`;
    this.database.run(sql, now, outcome, message, id);
    if (kind !== "destroy") return;
    this.database.run(
      `DELETE FROM intents WHERE context = ? AND name = ? AND kind = ? AND outcome = ? AND id <> ?`,
      ...[key, kind, outcome, id],
    );
  }

  /** Lets others finish what this process has open. */
  leaveAll(): void {
    this.#processes.leave();
  }

  #openRows(): Row[] {
    return this.database.all(
      `SELECT * FROM intents WHERE closed_at IS NULL ORDER BY opened_at, id`,
    );
  }

  #openOf(key: StackKey): Row[] {
    // Of a stack there may be many that are closed, of all stacks only few that are open.
    const open = "SELECT * FROM intents INDEXED BY intents_open WHERE closed_at IS NULL";
    return this.database.all(`${open} AND context = ? AND name = ?`, key);
  }

  /** Whether no work is at an intent. */
  #isOver(row: Row): boolean {
    return !this.#atWork.has(String(row["id"])) && !this.#isElsewhere(row);
  }

  /** Whether an intent belongs to another process that still runs. */
  #isElsewhere(row: Row): boolean {
    const owner = String(row["owner"]);
    return owner !== this.#processes.own && this.#processes.isAlive(owner);
  }
}

function optionsText({ options, adoption, orphans }: Intent): string {
  return JSON.stringify({ ...options, adoption, orphans });
}

function toIntent(row: Row): Intent {
  const { adoption, orphans, ...options } = jsonIn(row, "options");
  return {
    id: String(row["id"]),
    key: keyIn(row),
    kind: row["kind"] === "destroy" ? "destroy" : "deploy",
    ...(row["release_id"] === null ? {} : { releaseId: String(row["release_id"]) }),
    ...(row["in_name_of"] === null ? {} : { by: jsonIn(row, "in_name_of") }),
    options,
    // Versions before wrote down no copies.
    ...(adoption && { adoption: { copied: [], ...adoption } }),
    ...(orphans && { orphans }),
    ranBefore: jsonIn(row, "ran_before"),
    ...(row["closed_at"] === null && row["outcome"] !== null ? { isDone: true } : {}),
  };
}
