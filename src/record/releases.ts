import {
  formerOwner,
  ownerOfRelease,
  placeOf,
  type Release,
  type SourcePlace,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import type { InstanceKey } from "./instance_key.ts";
import { jsonIn } from "./json_in.ts";
import { keyIn, type LedgerDatabase, type Value } from "./ledger_database.ts";
import {
  type BesideRelease,
  clearFacts,
  type RecordedRelease,
  type ReleaseStatus,
  toRecordedRelease,
  withoutCredentials,
} from "./recorded_release.ts";
import { ReleaseContents } from "./release_contents.ts";
import { LedgerTable } from "./ledger_table.ts";

/** The key and a few facts of a stack with a current release. */
export interface DeployedStack {
  readonly key: StackKey;
  /** Name of the source it is deployed from. */
  readonly repository: string;
  /** Full name of the reference it is deployed from. */
  readonly reference: string;
  /** Where its configuration was read. */
  readonly place: SourcePlace;
  /** Time at which its release became healthy. */
  readonly succeededAt: Date | undefined;
  /** Whether it is a stack of a swarm. */
  readonly isSwarm: boolean;
}

/** A release whose containers may still run or be told of; see {@link Releases.alive}. */
export interface LivingRelease {
  readonly recorded: RecordedRelease;
  readonly mark: string;
  /** Bytes of its sealed part, which is compressed. */
  readonly size: number;
}

/** Columns of a recorded release without its large parts. */
const COLUMNS = "r.id, r.number, r.status, r.message, r.created_at, r.finished_at, r.facts";

/** Releases whose containers may be there besides the current one's: of what failed, or ran before. */
const NEWEST = 3;

/** The ledger's releases. Writing methods belong in a transaction; times are milliseconds since 1970. */
export class Releases extends LedgerTable {
  /** The large parts of releases. */
  readonly contents: ReleaseContents;

  /** `key` seals models and variables, which may hold secrets. */
  constructor(database: LedgerDatabase, key: InstanceKey) {
    super(database);
    this.contents = new ReleaseContents(database, key);
  }

  /** The last good release of a stack, or `undefined` when there is none. */
  current(key: StackKey): RecordedRelease | undefined {
    return this.#select(
      `SELECT ${COLUMNS} FROM stacks s JOIN releases r ON r.id = s.release_id WHERE s.context = ? AND s.name = ?`,
      key,
    )[0];
  }

  /** The last good releases of all stacks, or of those on one context. */
  currents(context?: string): RecordedRelease[] {
    return this.#select(
      `SELECT ${COLUMNS} FROM stacks s JOIN releases r ON r.id = s.release_id
       WHERE s.context = coalesce(?, s.context)`,
      context,
    );
  }

  /** The contexts on which a stack has a release, or had one, and a job has something stopped. */
  contexts(): string[] {
    const sql = `SELECT context FROM stacks UNION SELECT context FROM stopped_by_jobs`;
    return this.database.all(sql).map((row) => String(row["context"]));
  }

  /** Stacks with a current release, with its source and time, without reading whole releases. */
  deployedStacks(): DeployedStack[] {
    return this.database.all(
      `SELECT s.context, s.name, r.finished_at, r.facts ->> '$.revision.source.name' AS source,
              r.facts ->> '$.revision.reference' AS reference,
              r.facts -> '$.configuration' AS configuration, r.facts -> '$.revision' AS revision,
              r.facts ->> '$.target' AS target, r.facts -> '$.swarm' IS NOT NULL AS swarm,
              coalesce(d.source, o.source) AS asking, coalesce(d.reference, o.reference) AS branch
       FROM stacks s JOIN releases r ON r.id = s.release_id
       LEFT JOIN discovered d ON d.context = s.context AND d.name = s.name
       LEFT JOIN owners o ON o.context = s.context AND o.name = s.name
       ORDER BY s.context, s.name`,
    ).map((row) => ({
      key: keyIn(row),
      repository: String(row["source"]),
      reference: String(row["reference"]),
      place: placeOf({
        revision: jsonIn(row, "revision"),
        ...(row["configuration"] !== null && { configuration: jsonIn(row, "configuration") }),
        target: String(row["target"] ?? ""),
      }, { source: String(row["asking"] ?? ""), reference: String(row["branch"] ?? "") }),
      succeededAt: row["finished_at"] === null ? undefined : new Date(Number(row["finished_at"])),
      isSwarm: row["swarm"] === 1,
    }));
  }

  /** The number of stacks of a source that have a current release, named or not. */
  countOf(source: string): number {
    const [row] = this.database.all(
      `SELECT count(*) AS count FROM owners o JOIN stacks s ON s.context = o.context AND s.name = o.name
       WHERE o.source = ? AND s.release_id IS NOT NULL`,
      source,
    );
    return Number(row?.["count"]);
  }

  find(id: string | undefined): RecordedRelease | undefined {
    return id === undefined
      ? undefined
      : this.#select(`SELECT ${COLUMNS} FROM releases r WHERE id = ?`, id)[0];
  }

  /** The releases of a stack, newest first; a next page has those numbered below `before`. */
  history(key: StackKey, limit: number, before = Number.MAX_SAFE_INTEGER): RecordedRelease[] {
    return this.#select(
      `SELECT ${COLUMNS} FROM releases r WHERE context = ? AND name = ? AND number < ?
       ORDER BY number DESC LIMIT ?`,
      key,
      before,
      limit,
    );
  }

  /**
   * The releases whose containers may still run or be told of: the current one and the newest ones. Each
   * with a text that changes when its model or variables are replaced, and their size.
   */
  alive(key: StackKey): LivingRelease[] {
    const current = this.current(key);
    const newest = this.history(key, NEWEST);
    const isAmong = newest.some(({ id }) => id === current?.id);
    const all = current === undefined || isAmong ? newest : [current, ...newest];
    return all.map((recorded) => ({
      recorded,
      mark: `${recorded.id} ${recorded.digest}`,
      size: this.contents.size(recorded.id),
    }));
  }

  /**
   * Those of some digests that services of releases under a stack's name have, on whichever context;
   * `undefined` in a copy of the ledger, which has not all releases.
   */
  madeDigests(name: string, among: readonly string[]): ReadonlySet<string> | undefined {
    const rows = this.database.all(
      `SELECT DISTINCT d.value AS digest FROM releases r, json_each(r.digests) d
       WHERE r.name = ? AND d.value IN (SELECT value FROM json_each(?))
       UNION ALL SELECT NULL FROM releases r
       WHERE r.name = ? AND NOT EXISTS (SELECT 1 FROM release_contents WHERE release_id = r.id)`,
      name,
      JSON.stringify(among),
      name,
    );
    if (rows.some((row) => row["digest"] === null)) return undefined;
    return new Set(rows.map((row) => String(row["digest"])));
  }

  /** A recorded release with its model and variables. Throws `not_found` when it is gone. */
  open(recorded: RecordedRelease): Release {
    const { id, key, revision, target, timeoutSeconds, digest, configuration, swarm } = recorded;
    const { workingDir, inactive } = recorded;
    return {
      ...{ key, revision, target, timeoutSeconds, digest },
      services: this.contents.read("services", id),
      closure: this.contents.read("closure", id),
      live: this.contents.read("live", id),
      ...(configuration && { configuration }),
      ...(swarm && { swarm }),
      ...(workingDir === undefined ? {} : { workingDir }),
      ...(inactive === undefined ? {} : { inactive }),
      ...this.contents.open(id),
    };
  }

  /**
   * Adds a release that is about to be applied, under the next number of its stack. A release with
   * the model of the current one, such as a repair, shares its sealed part. `beside` has the images
   * built for it, and the owner of its stack.
   */
  add(id: string, release: Release, beside: BesideRelease, now: number): void {
    const same = this.contents.equal(release);
    this.#nameAccounts(release, release.key, beside.owner);
    const { key, digest, revision } = release;
    const [newest] = this.history(key, 1);
    this.database.add("releases", key, {
      ...{ id, number: (newest?.number ?? 0) + 1, digest, revision: revision.id },
      ...{ status: "applying", created_at: now, facts: clearFacts(release, beside) },
      ...{ sealed_in: same, digests: digestsOf(release), taken: this.contents.sealTaken(release) },
    });
    this.contents.add(id, release, same);
  }

  /** Records the outcome of a release; `message` is stored as it is. */
  setStatus(id: string, status: ReleaseStatus, message: string, now: number): void {
    const sql = `UPDATE releases SET status = ?, message = ?, finished_at = ? WHERE id = ?`;
    this.database.run(sql, status, message, now, id);
  }

  /** Makes a release the current one of its stack, with the images that its services run. */
  makeCurrent(key: StackKey, id: string, images: Readonly<Record<string, string>>): void {
    const sql = `UPDATE releases SET facts = json_set(facts, '$.images', json(?)) WHERE id = ?`;
    this.database.run(sql, JSON.stringify(images), id);
    this.database.run(
      `INSERT INTO stacks (context, name, release_id) VALUES (?, ?, ?)
       ON CONFLICT (context, name) DO UPDATE SET release_id = excluded.release_id`,
      key,
      id,
    );
  }

  /** Leaves a stack without a current release; its history stays. */
  forgetCurrent(key: StackKey): void {
    this.database.removeRows("stacks", key);
  }

  /** Replaces a recorded release by an equal one made from other inputs, for its stack's owner. */
  replace(recorded: RecordedRelease, release: Release, owner: StackOwner | undefined): void {
    this.#nameAccounts(release, recorded.key, owner);
    this.database.run(
      `UPDATE releases SET revision = ?, digest = ?, facts = ?, sealed_in = NULL, digests = ?, taken = ?
       WHERE id = ?`,
      release.revision.id,
      release.digest,
      clearFacts(release, { images: recorded.images, ...(owner && { owner }) }),
      digestsOf(release),
      this.contents.sealTaken(release),
      recorded.id,
    );
    this.contents.add(recorded.id, release, undefined);
  }

  /** Records other revisions of a release, whose inputs are equal there, for its stack's owner. */
  move(
    recorded: RecordedRelease,
    { owner, ...at }: Pick<RecordedRelease, "revision" | "configuration" | "owner">,
  ): void {
    const facts = withoutCredentials(at);
    this.#nameAccounts(facts, recorded.key, owner);
    this.database.run(
      `UPDATE releases SET revision = ?, facts = json_patch(facts, json(?)) WHERE id = ?`,
      at.revision.id,
      JSON.stringify({ configuration: null, ...facts, owner: owner ?? null }),
      recorded.id,
    );
  }

  /** Gives the releases of a stack that a source has deployed to another owner; returns their number. */
  handOver(key: StackKey, source: string, owner: StackOwner): number {
    const theirs = this.history(key, Number.MAX_SAFE_INTEGER)
      .filter((each) => each.status !== "applying" && ownerOfRelease(each).source === source);
    const sql = `UPDATE releases SET facts = json_set(facts, '$.owner', json(?)) WHERE id = ?`;
    for (const { id } of theirs) this.database.run(sql, JSON.stringify(owner), id);
    return theirs.length;
  }

  /**
   * Gives the earlier releases of a stack's owner the accounts of `ssh://` URLs, which earlier versions
   * left out: without these they lead elsewhere, and their files could not be fetched again.
   */
  #nameAccounts(
    at: Pick<Release, "revision" | "configuration">,
    key: StackKey,
    owner: StackOwner | undefined,
  ): void {
    const known = withoutCredentials(at);
    for (const part of ["revision", "configuration"] as const) {
      const url = known[part]?.source.url ?? "";
      const before = url.replace(/^(ssh:\/\/)[^/?#]*@/i, "$1");
      if (before === url) continue;
      const path = `$.${part}.source.url`;
      const same =
        `SELECT ${COLUMNS} FROM releases r WHERE context = ? AND name = ? AND facts ->> ? = ?`;
      for (const each of this.#select(same, key, path, before)) {
        if (formerOwner(each, owner) !== undefined) continue;
        const sql = `UPDATE releases SET facts = json_set(facts, ?, ?) WHERE id = ?`;
        this.database.run(sql, path, url, each.id);
      }
    }
  }

  #select(sql: string, ...values: Value[]): RecordedRelease[] {
    return this.database.all(sql, ...values).map(toRecordedRelease);
  }
}

function digestsOf({ services }: Release): string {
  return JSON.stringify(services.map(({ digest }) => digest));
}
