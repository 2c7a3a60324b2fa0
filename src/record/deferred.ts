import { formatStackKey, type SourceRequest, type StackKey, type Trigger } from "../model/mod.ts";
import type { InstanceKey } from "./instance_key.ts";
import { keyIn, type LedgerDatabase, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** A deployment that waits for a sync window to open, and what is asked for then. */
export interface Deferred {
  readonly trigger: Trigger;
  /** What asked for it last. */
  readonly request: SourceRequest;
  /** Name of the repository that configures it, whose share of what waits it is. */
  readonly repository: string;
  /** Time at which it is decided about again, where that is known. */
  readonly retryAt?: Date;
}

/** What waits for a stack, as it is asked for. */
export interface WaitingDeployment extends Omit<Deferred, "repository"> {
  readonly key: StackKey;
  /** The same for all that one request asks for. */
  readonly asks: string;
  /** Number of times that it was asked for and nothing was decided. */
  readonly asked: number;
}

/** Remembers what waits for a sync window: one deployment of each stack, the latest one. */
export class DeferredDeployments extends LedgerTable {
  readonly #key: InstanceKey;

  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.#key = key;
  }

  /** Keeps a deployment of a stack instead of an earlier one. Its request is sealed: it has secrets. */
  set(key: StackKey, { trigger, request, repository, retryAt }: Deferred): void {
    const text = textOf(request);
    this.database.put("deferred", key, {
      trigger,
      sealed: this.#key.seal(text),
      retry_at: retryAt,
      repository,
      asks: this.#key.digest(text),
    });
  }

  /** Time at which a stack's deployment is decided about again; `undefined` when none waits. */
  get(key: StackKey): Pick<Deferred, "retryAt"> | undefined {
    const row = this.database.rowOf("deferred", key);
    return row && retryAtOf(row);
  }

  /** All that waits, in no order. */
  all(): WaitingDeployment[] {
    return this.#opened(this.database.all(`SELECT * FROM deferred`));
  }

  /** What is to be decided about again at a time, or was before. */
  due(now: Date): WaitingDeployment[] {
    return this.#opened(this.database.all(`SELECT * FROM deferred WHERE retry_at <= ?`, now));
  }

  /** Time at which something is decided about again; `undefined` where none is known. */
  next(): Date | undefined {
    return retryAtOf(this.database.all(`SELECT min(retry_at) AS retry_at FROM deferred`)[0] ?? {})
      .retryAt;
  }

  /** Takes note that something is asked for, and when it is again if nothing is decided. */
  noteAsked({ key, asks }: Pick<WaitingDeployment, "key" | "asks">, until: Date): void {
    this.database.run(
      `UPDATE deferred SET retry_at = ?, asks = ?, asked = asked + 1 WHERE context = ? AND name = ?`,
      until,
      asks,
      key,
    );
  }

  /** Forgets what a request asked for of other stacks than these, which it names no more. */
  keepOnly(request: SourceRequest, named: readonly StackKey[]): void {
    const rows = this.database.all(
      `SELECT context, name FROM deferred WHERE asks = ?`,
      this.#key.digest(textOf(request)),
    );
    if (rows.length === 0) return;
    const stay = new Set(named.map(formatStackKey));
    for (const key of rows.map(keyIn)) if (!stay.has(formatStackKey(key))) this.remove(key);
  }

  /** Forgets what waits for a stack, if anything does. */
  remove(key: StackKey): void {
    if (this.get(key) === undefined) return;
    this.database.removeRows("deferred", key);
  }

  #opened(rows: readonly Row[]): WaitingDeployment[] {
    return rows.map((row) => {
      const text = this.#key.open(row["sealed"] as Uint8Array);
      const request = JSON.parse(text);
      const deployments = request.deployments.map((each: { readonly given: string[] }) => ({
        ...each,
        given: new Set(each.given),
      }));
      return {
        key: keyIn(row),
        trigger: String(row["trigger"]) as Trigger,
        request: { ...request, deployments },
        asks: this.#key.digest(text),
        asked: Number(row["asked"]),
        ...retryAtOf(row),
      };
    });
  }
}

function textOf(request: SourceRequest): string {
  const deployments = request.deployments.map(({ deployment, given }) => ({
    deployment,
    given: [...given],
  }));
  return JSON.stringify({ ...request, deployments });
}

function retryAtOf(row: Row): Pick<Deferred, "retryAt"> {
  const at = row["retry_at"];
  return at === null || at === undefined ? {} : { retryAt: new Date(Number(at)) };
}
