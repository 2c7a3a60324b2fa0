import type { InputClosure, StackKey } from "../model/mod.ts";
import { RedactedTable } from "./ledger_table.ts";
import { jsonIn } from "./json_in.ts";

/** The pin of a stack that a person rolled back. */
export interface Pin {
  readonly releaseId: string;
  /** Revision that automatic work must not deploy: at first the newest one at the rollback. */
  readonly revision: string;
  /** The release of that revision, where it was ever rendered. */
  readonly refused?: RefusedRelease;
  readonly pinnedAt: Date;
  readonly reason?: string;
}

/** A release that a person rolled back from: commits with an equal one are held back, too. */
interface RefusedRelease {
  /** Digest of the release. */
  readonly digest: string;
  readonly closure: InputClosure;
}

/** Keeps automatic updates from undoing rollbacks. */
export class Pins extends RedactedTable {
  get(key: StackKey): Pin | undefined {
    const row = this.database.rowOf("pins", key);
    return row && {
      releaseId: String(row["release_id"]),
      revision: String(row["revision"]),
      ...(row["refused"] === null ? {} : { refused: jsonIn(row, "refused") }),
      pinnedAt: new Date(Number(row["pinned_at"])),
      ...(row["reason"] === null ? {} : { reason: String(row["reason"]) }),
    };
  }

  has(key: StackKey): boolean {
    return this.mark(key) !== "";
  }

  /** A text that differs for every pin of a stack; empty without a pin. */
  mark(key: StackKey): string {
    const row = this.database.rowOf("pins", key);
    return row === undefined ? "" : `${row["release_id"]} ${row["pinned_at"]}`;
  }

  /** Pins a stack; an earlier pin is replaced. */
  set(key: StackKey, pin: Pin): void {
    this.database.put("pins", key, {
      release_id: pin.releaseId,
      revision: pin.revision,
      pinned_at: pin.pinnedAt,
      refused: pin.refused && JSON.stringify(pin.refused),
      reason: pin.reason === undefined ? null : this.redact(pin.reason, key),
    });
  }

  /**
   * Moves the pin that was there at `mark` to another revision, or removes it where `pin` is `undefined`.
   * False, and nothing is changed, where a person has pinned the stack again, or unpinned it, since then.
   */
  replace(key: StackKey, mark: string, pin: Pin | undefined): boolean {
    return this.database.transaction(() => {
      const isSame = this.mark(key) === mark;
      if (isSame && pin === undefined) this.remove(key);
      if (isSame && pin !== undefined) this.set(key, pin);
      return isSame;
    });
  }

  /** Pins a stack while an intent is open; the intent's outcome decides whether the pin stays. */
  begin(key: StackKey, pin: Pin, intentId: string): void {
    const earlier = this.get(key);
    this.set(key, pin);
    this.#setPending(key, JSON.stringify({ intentId, earlier }));
  }

  /** Keeps the pin of an intent that succeeded; after a failure the earlier pin holds again. */
  end(key: StackKey, intentId: string, outcome: "succeeded" | "failed"): void {
    const row = this.database.rowOf("pins", key);
    const pending = JSON.parse(String(row?.["pending"] ?? "null"));
    if (pending?.intentId !== intentId) return;
    if (outcome === "failed") {
      const { earlier } = pending;
      if (earlier === undefined) this.remove(key);
      else this.set(key, { ...earlier, pinnedAt: new Date(earlier.pinnedAt) });
      return;
    }
    this.#setPending(key, null);
  }

  #setPending(key: StackKey, pending: string | null): void {
    this.database.run(`UPDATE pins SET pending = ? WHERE context = ? AND name = ?`, pending, key);
  }

  /** Removes a pin; false when there was none. */
  remove(key: StackKey): boolean {
    const had = this.has(key);
    this.database.removeRows("pins", key);
    return had;
  }
}
