import { clip, type SourceFailure, type SourcePlace } from "../model/mod.ts";
import type { Row } from "./ledger_database.ts";
import { RedactedTable } from "./ledger_table.ts";

/** Most sources to keep: whoever pushes broken branches names as many as they like. */
const MOST_SOURCES = 500;
/** Longest message that is kept, in characters. */
const MOST_MESSAGE = 1000;
/** Milliseconds after the last attempt, and the next poll, for which a failure is kept. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** Where, why and when a source could not be read. */
export interface FailedReading extends SourcePlace {
  readonly message: string;
  readonly at: Date;
  /** Time of the next poll, where it is polled. */
  readonly retryAt: Date | undefined;
  /** False where something else than a poll asked: then the known time of the next poll stays. */
  readonly isPoll: boolean;
}

/**
 * Records the sources that cannot be read, durably: a command that tells the states of stacks is
 * another process than the service. `key` is that of the request, without credentials.
 */
export class SourceFailures extends RedactedTable {
  /** The failures whose last attempt or next poll is not long ago, the newest first. */
  all(now: Date): SourceFailure[] {
    return this.database.all(
      `SELECT * FROM source_failures WHERE max(last_at, coalesce(retry_at, 0)) >= ?
       ORDER BY since DESC, key`,
      now.getTime() - KEPT_MS,
    ).map(toFailure);
  }

  /** The failure of one source, however long ago. */
  of(key: string): SourceFailure | undefined {
    const row = this.#row(key);
    return row && toFailure(row);
  }

  /** Records that a source could not be read; keeps since when that is so. */
  fail(key: string, { isPoll, retryAt, at, ...failed }: FailedReading): void {
    const { repository, reference, target } = failed;
    const message = clip(this.redact(failed.message, { source: repository }), MOST_MESSAGE);
    // A power cut may undo it: the next attempt records it again.
    this.database.casually(() => {
      this.database.run(
        `DELETE FROM source_failures WHERE max(last_at, coalesce(retry_at, 0)) < ?`,
        at.getTime() - KEPT_MS,
      );
      const known = this.#row(key);
      const planned = isPoll ? 0 : Number(known?.["retry_at"] ?? 0);
      this.database.run(
        `INSERT OR REPLACE INTO source_failures
           (key, repository, reference, target, since, last_at, retry_at, message)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[key, repository, reference, target],
        ...[known === undefined ? at : Number(known["since"]), at],
        ...[planned > at.getTime() ? planned : retryAt, message],
      );
      this.#forgetMost();
    });
  }

  /** Forgets a source that was read; writes only where it had failed. */
  clear(key: string): void {
    if (this.#row(key) !== undefined) this.#remove([key]);
  }

  /** Forgets sources that were polled and are not any more: nothing else would clear them. */
  keepPolled(keys: readonly string[]): void {
    const stay = new Set(keys);
    const polled = this.database.all(`SELECT key FROM source_failures WHERE retry_at IS NOT NULL`);
    this.#remove(polled.map((row) => String(row["key"])).filter((key) => !stay.has(key)));
  }

  #row(key: string): Row | undefined {
    return this.database.all(`SELECT * FROM source_failures WHERE key = ?`, key)[0];
  }

  #remove(keys: readonly string[]): void {
    for (const key of keys) this.database.run(`DELETE FROM source_failures WHERE key = ?`, key);
  }

  /** Forgets what is beyond the limit: the oldest of the repositories with the most. */
  #forgetMost(): void {
    this.database.run(
      `DELETE FROM source_failures WHERE key IN (
         SELECT key FROM (
           SELECT key, last_at,
                  row_number() OVER (PARTITION BY repository ORDER BY last_at DESC) AS place
           FROM source_failures)
         ORDER BY place, last_at DESC LIMIT -1 OFFSET ?)`,
      MOST_SOURCES,
    );
  }
}

function toFailure(row: Row): SourceFailure {
  return {
    repository: String(row["repository"]),
    reference: String(row["reference"]),
    target: String(row["target"]),
    since: new Date(Number(row["since"])),
    lastAt: new Date(Number(row["last_at"])),
    message: String(row["message"]),
    ...(row["retry_at"] === null ? {} : { retryAt: new Date(Number(row["retry_at"])) }),
  };
}
