import { deflateSync, inflateSync } from "node:zlib";
import { errors, type Release, type StackwrightError, utf8 } from "../model/mod.ts";
import type { InstanceKey } from "./instance_key.ts";
import type { LedgerDatabase } from "./ledger_database.ts";
import { LedgerTable } from "./ledger_table.ts";
import type { RecordedRelease } from "./recorded_release.ts";
import { damaged, jsonIn } from "./json_in.ts";
import { takenVolumes } from "./taken_volumes.ts";

/** Columns that are not sealed. */
type Clear = "services" | "live" | "closure";

/**
 * The large parts of recorded releases, in a table of their own that lists of releases do not read.
 * Models and variables are sealed, since they may hold secrets. Reading a release that was
 * forgotten throws `not_found`.
 */
export class ReleaseContents extends LedgerTable {
  readonly #key: InstanceKey;

  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.#key = key;
  }

  /** Adds the large parts of a release; `same` is a release with an equal sealed part. */
  add(id: string, release: Release, same: string | undefined): void {
    this.database.run("DELETE FROM release_claims WHERE release_id = ?", id);
    this.database.run(
      `INSERT OR REPLACE INTO release_contents (release_id, services, live, closure, sealed, packed)
       VALUES (?, '', ?, ?, ?, ?)`,
      id,
      ...[release.live, release.closure].map((each) => JSON.stringify(each)),
      same === undefined ? this.#key.seal(sealable(release)) : new Uint8Array(),
      // Services that use the same files name each of them again.
      deflateSync(JSON.stringify(release.services)),
    );
  }

  /** One unsealed part of a release. */
  read<Column extends Clear>(column: Column, id: string): Release[Column] {
    const packed = column === "services" ? "packed" : "NULL";
    const [row] = this.database.all(
      `SELECT ${column} AS found, ${packed} AS packed FROM release_contents WHERE release_id = ?`,
      id,
    );
    if (row === undefined) throw this.#gone(id);
    // Earlier versions packed nothing.
    return row["packed"] === null ? jsonIn(row, "found") : unpack(row["packed"] as Uint8Array);
  }

  open(id: string): Pick<Release, "model" | "invocation" | "unused"> {
    const found = this.#sealed(id);
    if (found === undefined) throw this.#gone(id);
    return JSON.parse(this.#key.open(found.sealed));
  }

  /** The names that a release's row keeps of what it took over, sealed as its model is. */
  sealTaken({ model }: Pick<Release, "model">): Uint8Array {
    return this.#key.seal(JSON.stringify(takenVolumes(model)));
  }

  /**
   * The names of volumes that were there before the given releases; of those that can be opened.
   * Models of an earlier version's releases are opened once, and their names kept.
   */
  taken(ids: readonly string[]): ReadonlySet<string> {
    const names = new Set<string>();
    const late: [id: string, sealed: Uint8Array][] = [];
    for (const id of ids) {
      try {
        const [row] = this.database.all(`SELECT taken FROM releases WHERE id = ?`, id);
        const kept = row?.["taken"] as Uint8Array | null | undefined;
        const sealed = kept ?? this.sealTaken(this.open(id));
        if (kept === null) late.push([id, sealed]);
        for (const name of JSON.parse(this.#key.open(sealed))) names.add(name);
      } catch {
        // It is gone, or was sealed with a lost key.
      }
    }
    if (late.length > 0) this.#keepTaken(late);
    return names;
  }

  #keepTaken(late: readonly (readonly [string, Uint8Array])[]): void {
    const sql = `UPDATE releases SET taken = ? WHERE id = ?`;
    try {
      this.database.casually(() => {
        for (const [id, sealed] of late) this.database.run(sql, sealed, id);
      });
    } catch {
      // The next one who asks opens them again: the disk is full, or the ledger only read.
    }
  }

  /** Bytes of the sealed part of a release, which is compressed; 0 when it is gone. */
  size(id: string): number {
    const [row] = this.database.all(
      `SELECT length(c.sealed) AS size FROM releases r
       JOIN release_contents c ON c.release_id = coalesce(r.sealed_in, r.id) WHERE r.id = ?`,
      id,
    );
    return Number(row?.["size"] ?? 0);
  }

  /** The current release, if it has the same model and variables as `release`. */
  equal(release: Release): string | undefined {
    const [current] = this.database.all(
      `SELECT r.id FROM stacks s JOIN releases r ON r.id = s.release_id
       WHERE s.context = ? AND s.name = ? AND r.digest = ?`,
      release.key,
      release.digest,
    );
    const found = current && this.#sealed(String(current["id"]));
    if (found === undefined) return undefined;
    try {
      return this.#key.open(found.sealed) === sealable(release) ? found.id : undefined;
    } catch {
      // Sealed with a lost key: the new release is then sealed by itself, and can be opened.
      return undefined;
    }
  }

  /** The sealed part of a release, which may be stored with an earlier, equal one. */
  #sealed(id: string): { readonly id: string; readonly sealed: Uint8Array } | undefined {
    const [row] = this.database.all(
      `SELECT c.release_id AS id, c.sealed FROM releases r
       JOIN release_contents c ON c.release_id = coalesce(r.sealed_in, r.id) WHERE r.id = ?`,
      id,
    );
    return row && { id: String(row["id"]), sealed: row["sealed"] as Uint8Array };
  }

  #gone(id: RecordedRelease["id"]): StackwrightError {
    return errors.not_found(`release ${id} is not in ${this.database.path}`);
  }
}

function unpack(packed: Uint8Array): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(utf8(inflateSync(packed)));
  } catch (cause) {
    throw damaged("ledger is damaged (the column packed cannot be read)", cause);
  }
}

function sealable({ model, invocation, unused }: Release): string {
  return JSON.stringify({ model, invocation, unused });
}
