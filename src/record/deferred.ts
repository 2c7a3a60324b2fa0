import {
  formatStackKey,
  type SourceRequest,
  type StackKey,
  type StackOwner,
  type Trigger,
} from "../model/mod.ts";
import type { InstanceKey } from "./instance_key.ts";
import { keyIn, type LedgerDatabase, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** A deployment that waits for a sync window, with the request to make then. */
export interface Deferred {
  readonly trigger: Trigger;
  /** The request that asked for it last. */
  readonly request: SourceRequest;
  /** The configuration that asked for it; its entries count as those of its repository. */
  readonly asker: StackOwner;
  /** Time of the next decision about it, if known. */
  readonly retryAt?: Date;
}

const OF_ASKER = "context = ? AND name = ? AND repository = ? AND reference = ?";

/**
 * Records what waits for sync windows: of each stack the latest deployment of each repository and
 * branch that asks for it. While nobody owns a stack, anybody may name it, and none speaks for another.
 */
export class DeferredDeployments extends LedgerTable {
  readonly #key: InstanceKey;

  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.#key = key;
  }

  /** Replaces an asker's deferred deployment of a stack. Its request is sealed: it holds secrets. */
  set(key: StackKey, { trigger, request, asker, retryAt }: Deferred): void {
    const text = textOf(request);
    this.database.put("deferred", key, {
      trigger,
      sealed: this.#key.seal(text),
      retry_at: retryAt,
      repository: asker.source,
      reference: asker.reference,
      asks: this.#key.digest(text),
    });
  }

  /** Time of the next decision about a stack's deployments; `undefined` when none is deferred. */
  get(key: StackKey): Pick<Deferred, "retryAt"> | undefined {
    const [row] = this.database.rowsOf("deferred", key, "ORDER BY retry_at IS NULL, retry_at");
    return row && retryAtOf(row);
  }

  /** All deferred deployments, in no order, with the number of requests for each that led to no decision. */
  all(): (Pick<Deferred, "asker"> & { readonly key: StackKey; readonly asked: number })[] {
    return this.database.all(`SELECT * FROM deferred`)
      .map((row) => ({ key: keyIn(row), asker: askerIn(row), asked: Number(row["asked"]) }));
  }

  /**
   * Takes the requests for what is due by `now`, or for all: each one once, however many stacks of it wait.
   * `again` says when these are due again, together with those for which it was taken in vain before, unless
   * it leads to a decision: by how often that was.
   */
  take(now: Date | "all", again: (asked: number) => Date): Pick<Deferred, "trigger" | "request">[] {
    const [due, by] = now === "all" ? ["TRUE", []] as const : ["retry_at <= ?", [now]] as const;
    const rows = this.database.all(
      `SELECT trigger, sealed, asks, min(asked) AS asked FROM deferred
       WHERE ${due} GROUP BY trigger, iif(asks = '', sealed, asks) ORDER BY min(rowid)`,
      ...by,
    );
    return rows.map((row) => {
      const sealed = row["sealed"] as Uint8Array;
      const trigger = String(row["trigger"]) as Trigger;
      const text = this.#key.open(sealed);
      const asks = this.#key.digest(text);
      this.database.run(
        `UPDATE deferred SET retry_at = ?, asks = ?, asked = asked + 1
         WHERE (${due} OR asked > 0) AND trigger = ? AND (asks = ? OR sealed = ?)`,
        ...[again(Number(row["asked"])), asks, ...by, trigger, asks, sealed],
      );
      return { trigger, request: requestIn(text) };
    });
  }

  /** Time of the next decision about any of them; `undefined` when none is known. */
  next(): Date | undefined {
    return retryAtOf(this.database.all(`SELECT min(retry_at) AS retry_at FROM deferred`)[0] ?? {})
      .retryAt;
  }

  /** Forgets stacks of a request that are not `named`: its source names them no longer. */
  keepOnly(request: SourceRequest, named: readonly StackKey[]): void {
    const rows = this.database.all(
      `SELECT context, name, repository, reference FROM deferred WHERE asks = ?`,
      this.#key.digest(textOf(request)),
    );
    if (rows.length === 0) return;
    const stay = new Set(named.map(formatStackKey));
    for (const row of rows) {
      if (!stay.has(formatStackKey(keyIn(row)))) this.#removeOne(row);
    }
  }

  /** Forgets the deferred deployments of a stack, or those whose asker `goes`; writes only changes. */
  remove(key: StackKey, goes: (asker: StackOwner) => boolean = () => true): void {
    for (const row of this.database.rowsOf("deferred", key)) {
      if (goes(askerIn(row))) this.#removeOne(row);
    }
  }

  #removeOne(row: Row): void {
    const { source, reference } = askerIn(row);
    this.database.run(`DELETE FROM deferred WHERE ${OF_ASKER}`, keyIn(row), source, reference);
  }
}

function requestIn(text: string): SourceRequest {
  const request = JSON.parse(text);
  const deployments = request.deployments.map((each: { readonly given: string[] }) => ({
    ...each,
    given: new Set(each.given),
  }));
  return { ...request, deployments };
}

function askerIn(row: Row): StackOwner {
  return { source: String(row["repository"]), reference: String(row["reference"]) };
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
