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

/** A deferred deployment of a stack, ready to be requested again. */
export interface WaitingDeployment extends Deferred {
  readonly key: StackKey;
  /** Digest of the request: equal for all deployments of one request. */
  readonly asks: string;
  /** Number of requests that led to no decision. */
  readonly asked: number;
}

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

  /** All deferred deployments, in no order. */
  all(): WaitingDeployment[] {
    return this.#opened(this.database.all(`SELECT * FROM deferred`));
  }

  due(now: Date): WaitingDeployment[] {
    return this.#opened(this.database.all(`SELECT * FROM deferred WHERE retry_at <= ?`, now));
  }

  /** Time of the next decision about any of them; `undefined` when none is known. */
  next(): Date | undefined {
    return retryAtOf(this.database.all(`SELECT min(retry_at) AS retry_at FROM deferred`)[0] ?? {})
      .retryAt;
  }

  /** Counts a request, and sets the time of the next one in case it leads to no decision. */
  noteAsked(
    { key, asker, asks }: Pick<WaitingDeployment, "key" | "asker" | "asks">,
    until: Date,
  ): void {
    this.database.run(
      `UPDATE deferred SET retry_at = ?, asks = ?, asked = asked + 1
       WHERE ${OF_ASKER}`,
      ...[until, asks, key, asker.source, asker.reference],
    );
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
        asker: askerIn(row),
        ...retryAtOf(row),
      };
    });
  }
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
