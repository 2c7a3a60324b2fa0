import type { InstanceKey } from "./instance_key.ts";
import type { LedgerDatabase } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";

/**
 * SQL for the releases on contexts that may have their containers there, or get them back: the last good
 * ones and those under way, but of stacks that a person stopped.
 */
const LIVING = `SELECT r.id, r.name FROM releases r, (SELECT ? AS contexts)
  WHERE r.id IN (SELECT release_id FROM stacks
                 UNION ALL SELECT release_id FROM intents WHERE closed_at IS NULL)
    AND r.context IN (SELECT value FROM json_each(contexts))
    AND NOT EXISTS (SELECT 1 FROM stops p
      WHERE p.name = r.name AND p.context IN (SELECT value FROM json_each(contexts)))`;

/** Records what releases claim of their engines, such as ports, as keys of the caller's. */
export class ReleaseClaims extends LedgerTable {
  readonly #key: InstanceKey;

  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.#key = key;
  }

  /** The ids of living releases on some contexts whose claims are not noted yet. */
  toNote(contexts: readonly string[]): string[] {
    const sql = `SELECT DISTINCT l.id FROM (${LIVING}) l WHERE NOT EXISTS
      (SELECT 1 FROM release_claims c WHERE c.claim = '' AND c.release_id = l.id)`;
    return this.database.all(sql, JSON.stringify(contexts)).map((row) => String(row["id"]));
  }

  /** Notes claims of a release. Where they cannot be written, the next one who asks does it. */
  note(id: string, claims: Iterable<string>): void {
    try {
      this.database.casually(() => this.add(id, claims));
    } catch {
      // The release is gone, the disk is full, or the ledger only read.
    }
  }

  /** Adds claims that nobody could note later; call it in a transaction. */
  add(id: string, claims: Iterable<string>): void {
    const sql = `INSERT OR IGNORE INTO release_claims (claim, release_id) VALUES (?, ?)`;
    for (const each of new Set(claims)) this.database.run(sql, this.#stored(each), id);
  }

  /** Says that all claims of a release are noted. */
  noted(id: string): void {
    this.note(id, [""]);
  }

  /** Forgets the claims of a release, which are noted again when somebody asks. */
  forget(id: string): void {
    this.database.run("DELETE FROM release_claims WHERE release_id = ?", id);
  }

  /** The names of stacks on some contexts whose living releases have each of these claims, by claim. */
  claimants(
    claims: Iterable<string>,
    contexts: readonly string[],
  ): ReadonlyMap<string, ReadonlySet<string>> {
    const wanted = new Map([...new Set(claims)].map((each) => [this.#stored(each), each]));
    const rows = this.database.all(
      // In this order: a release may have any number of claims, and few of them are asked about.
      `SELECT c.claim, r.name FROM json_each(?) w CROSS JOIN release_claims c ON c.claim = w.value
       CROSS JOIN releases r ON r.id = c.release_id
       WHERE r.id IN (SELECT id FROM (${LIVING}))`,
      JSON.stringify([...wanted.keys()]),
      JSON.stringify(contexts),
    );
    const found = new Map<string, Set<string>>();
    for (const { claim, name } of rows) {
      const of = found.getOrInsertComputed(wanted.get(String(claim)) ?? "", () => new Set());
      of.add(String(name));
    }
    return found;
  }

  /**
   * The stored form of a claim. A name may have a value in it that somebody takes for a secret; ports are numbers
   * and addresses, of which a release may have tens of thousands, and a digest takes longer than to store them.
   */
  #stored(claim: string): string {
    return claim === "" || claim.startsWith("port ") ? claim : this.#key.digest(claim);
  }
}
