import type { FailureRecord, StackKey } from "../model/mod.ts";
import { RedactedTable } from "./ledger_table.ts";

/** Longest message that is kept, in characters. */
const MOST_MESSAGE = 2000;

/**
 * Remembers the bad release of each stack, durably: a restart must not turn a release that fails
 * into one that is tried again and again.
 */
export class FailureMemory extends RedactedTable {
  /** The failure of a stack, if its last attempt failed. */
  get(key: StackKey): FailureRecord | undefined {
    const row = this.database.rowOf("failures", key);
    return row && {
      release: String(row["release"]),
      failures: Number(row["failures"]),
      automaticAttempts: Number(row["automatic_attempts"]),
      lastFailedAt: new Date(Number(row["last_failed_at"])),
      ...(row["by_hand_at"] === null ? {} : { byHandAt: new Date(Number(row["by_hand_at"])) }),
      message: String(row["message"]),
    };
  }

  /** Counts an automatic attempt before it is made, so that a crash in it counts too. */
  countAttempt(key: StackKey): void {
    const change = "automatic_attempts = automatic_attempts + 1";
    this.database.run(`UPDATE failures SET ${change} WHERE context = ? AND name = ?`, key);
  }

  /**
   * Records a failure of `release`. A release that is new here starts with no attempts; a manual
   * failure of a known one moves neither the counters nor the time that the delay is counted from.
   */
  fail(
    key: StackKey,
    failure: { release: string; message: string; at: Date; automatic: boolean },
  ): void {
    const message = this.redact(failure.message, key).slice(0, MOST_MESSAGE);
    const known = this.get(key);
    if (known?.release === failure.release) {
      const change = failure.automatic
        ? "failures = failures + 1, by_hand_at = NULL, last_failed_at = ?"
        : "by_hand_at = ?";
      const sql = `UPDATE failures SET ${change}, message = ? WHERE context = ? AND name = ?`;
      this.database.run(sql, failure.at, message, key);
      return;
    }
    this.database.put("failures", key, {
      release: failure.release,
      failures: 1,
      automatic_attempts: 0,
      last_failed_at: failure.at,
      message,
    });
  }

  /** Says more of the failure there is: what became of the stack afterwards. */
  addTo(key: StackKey, text: string): void {
    const known = this.get(key);
    if (known === undefined) return;
    const message = this.redact(`${known.message}; ${text}`, key).slice(0, MOST_MESSAGE);
    this.database.run(
      `UPDATE failures SET message = ? WHERE context = ? AND name = ?`,
      message,
      key,
    );
  }

  /** Forgets the failure of a stack: a release of it succeeded, or it was destroyed. */
  clear(key: StackKey): void {
    this.database.removeRows("failures", key);
  }

  /**
   * The failure of a release that nobody asks for any more is over: `wanted` runs. One of this very
   * release stays remembered, for what crashes again after it was seen to run must not be tried again
   * in a tight loop.
   */
  clearOthers(key: StackKey, wanted: string): void {
    const failure = this.get(key);
    if (failure !== undefined && failure.release !== wanted) this.clear(key);
  }
}
