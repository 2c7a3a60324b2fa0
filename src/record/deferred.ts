import type { SourceRequest, StackKey, Trigger } from "../model/mod.ts";
import type { InstanceKey } from "./instance_key.ts";
import { keyIn, type LedgerDatabase, type Row } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/** A deployment that waits for a sync window to open, and what is asked for then. */
export interface Deferred {
  readonly trigger: Trigger;
  /** What asked for it last. */
  readonly request: SourceRequest;
  /** Time at which it is decided about again, where that is known. */
  readonly retryAt?: Date;
}

/** Remembers what waits for a sync window: one deployment of each stack, the latest one. */
export class DeferredDeployments extends LedgerTable {
  readonly #key: InstanceKey;

  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.#key = key;
  }

  /** Keeps a deployment of a stack instead of an earlier one. Its request is sealed: it has secrets. */
  set(key: StackKey, { trigger, request, retryAt }: Deferred): void {
    const deployments = request.deployments.map(({ deployment, given }) => ({
      deployment,
      given: [...given],
    }));
    const sealed = this.#key.seal(JSON.stringify({ ...request, deployments }));
    this.database.put("deferred", key, { trigger, sealed, retry_at: retryAt });
  }

  /** Time at which a stack's deployment is decided about again; `undefined` when none waits. */
  get(key: StackKey): Pick<Deferred, "retryAt"> | undefined {
    const row = this.database.rowOf("deferred", key);
    return row && retryAtOf(row);
  }

  /** The stacks that wait, in no order. */
  all(): (Deferred & { readonly key: StackKey })[] {
    return this.database.all(`SELECT * FROM deferred`).map((row) => {
      const request = JSON.parse(this.#key.open(row["sealed"] as Uint8Array));
      const deployments = request.deployments.map((each: { readonly given: string[] }) => ({
        ...each,
        given: new Set(each.given),
      }));
      return {
        key: keyIn(row),
        trigger: String(row["trigger"]) as Trigger,
        request: { ...request, deployments },
        ...retryAtOf(row),
      };
    });
  }

  /** Puts off what waits for a stack. */
  putOff(key: StackKey, until: Date): void {
    const sql = `UPDATE deferred SET retry_at = ? WHERE context = ? AND name = ?`;
    this.database.run(sql, until, key);
  }

  /** Forgets what waits for a stack, if anything does. */
  remove(key: StackKey): void {
    if (this.get(key) === undefined) return;
    this.database.removeRows("deferred", key);
  }
}

function retryAtOf(row: Row): Pick<Deferred, "retryAt"> {
  const at = row["retry_at"];
  return at === null || at === undefined ? {} : { retryAt: new Date(Number(at)) };
}
