import { type FailureRecord, type StackKey, withSequel } from "../model/mod.ts";
import { RedactedTable } from "./ledger_table.ts";

/** Longest message that is kept, in characters. */
const MOST_MESSAGE = 2000;

/** Records each stack's failed release, durably: a restart must not make it be tried again and again. */
export class FailureMemory extends RedactedTable {
  /**
   * The failure of a stack, if its last attempt failed; with `source`, only one of that source:
   * what another repository tried under the name neither delays its own nor counts for them.
   */
  get(key: StackKey, source?: string): FailureRecord | undefined {
    const row = this.database.rowOf("failures", key);
    // Earlier versions did not record the source.
    if (source !== undefined && ![source, ""].includes(String(row?.["source"]))) return undefined;
    return row && {
      release: String(row["release"]),
      failures: Number(row["failures"]),
      automaticAttempts: Number(row["automatic_attempts"]),
      lastFailedAt: new Date(Number(row["last_failed_at"])),
      byHand: Number(row["by_hand"]),
      ...(row["by_hand_at"] === null ? {} : { byHandAt: new Date(Number(row["by_hand_at"])) }),
      message: String(row["message"]),
    };
  }

  /** Counts an automatic attempt before it begins, so that one that crashes counts, too. */
  countAttempt(key: StackKey): void {
    const change = "automatic_attempts = automatic_attempts + 1";
    this.database.run(`UPDATE failures SET ${change} WHERE context = ? AND name = ?`, key);
  }

  /**
   * Records a failure of `release`, which `source` asked for. Another release than the recorded one,
   * or one of another source, starts without attempts; a manual failure of the recorded one is counted
   * by itself, and changes neither the other counters nor the start of the delay.
   */
  fail(
    key: StackKey,
    failure: { release: string; source: string; message: string; at: Date; automatic: boolean },
  ): void {
    const message = this.redact(failure.message, key).slice(0, MOST_MESSAGE);
    const known = this.get(key, failure.source);
    if (known?.release === failure.release) {
      const change = failure.automatic
        ? "failures = failures + 1, by_hand_at = NULL, last_failed_at = ?"
        : "by_hand = by_hand + 1, by_hand_at = ?";
      const sql = `UPDATE failures SET ${change}, message = ? WHERE context = ? AND name = ?`;
      this.database.run(sql, failure.at, message, key);
      return;
    }
    this.database.put("failures", key, {
      release: failure.release,
      source: failure.source,
      failures: 1,
      automatic_attempts: 0,
      last_failed_at: failure.at,
      message,
    });
  }

  /** Adds to the message of the recorded failure what happened to the stack afterwards. */
  addTo(key: StackKey, text: string): void {
    const known = this.get(key);
    if (known === undefined) return;
    const message = this.redact(withSequel(known.message, text), key).slice(0, MOST_MESSAGE);
    this.database.run(
      `UPDATE failures SET message = ? WHERE context = ? AND name = ?`,
      message,
      key,
    );
  }

  /** Forgets the failure of a stack, whose release succeeded or which was destroyed. */
  clear(key: StackKey): void {
    this.database.removeRows("failures", key);
  }

  /**
   * Forgets the failure unless it is of `wanted`, the release that runs: nobody asks for another
   * any more. A failure of `wanted` stays recorded: a release that crashes after it was seen to run
   * must not be tried again in a tight loop.
   */
  clearOthers(key: StackKey, wanted: string): void {
    const failure = this.get(key);
    if (failure !== undefined && failure.release !== wanted) this.clear(key);
  }
}
