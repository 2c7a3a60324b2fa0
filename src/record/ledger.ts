import { type Release, type StackKey, StackwrightError } from "../model/mod.ts";
import type { Clock, Ids, ProcessOwner } from "../system/mod.ts";
import { DecisionLog } from "./decision_log.ts";
import { DiscoveredStacks } from "./discovered_stacks.ts";
import { FailureMemory } from "./failure_memory.ts";
import type { InstanceKey } from "./instance_key.ts";
import { LedgerDatabase, type Row } from "./ledger_database.ts";
import { Pins } from "./pins.ts";

/**
 * What became of a release: `applying` from its intent to its outcome, then `deployed`, `failed` (the
 * mixed state was kept) or `rolled_back` (its predecessor was put back).
 */
export type ReleaseStatus = "applying" | "deployed" | "failed" | "rolled_back";

/** A release as the ledger remembers it; the model and its variables are opened only on request. */
export interface RecordedRelease extends Omit<Release, "model" | "invocation"> {
  readonly id: string;
  /** Counts the releases of one stack, from 1. */
  readonly number: number;
  readonly status: ReleaseStatus;
  readonly message: string;
  readonly createdAt: Date;
  readonly finishedAt?: Date;
  /** Content ids of the images its services ran when it was deployed, by service. */
  readonly images: Readonly<Record<string, string>>;
}

/** Something about to change an engine. It is on disk before the first change. */
export interface Intent {
  readonly id: string;
  readonly key: StackKey;
  readonly kind: "deploy" | "destroy";
  /** The release being deployed; absent for a destroy. */
  readonly releaseId?: string;
  /** What a destroy removes besides containers and networks. */
  readonly options: Readonly<Record<string, boolean>>;
}

/**
 * The durable memory: which release each stack has, every release before it, and what was under way
 * when the process ended. Calls are synchronous, and durable when they return.
 *
 * Every call throws `data_dir_unusable` when the disk is full or read-only, and `ledger_unusable`
 * when the database is damaged.
 */
export class Ledger {
  readonly #database: LedgerDatabase;
  /** The release of each stack that failed last. */
  readonly failures: FailureMemory;
  /** Why something was done, or not. */
  readonly decisions: DecisionLog;
  /** Stacks that were put back on purpose. */
  readonly pins: Pins;
  /** Stacks that were found by auto-discovery. */
  readonly discovered: DiscoveredStacks;
  readonly #key: InstanceKey;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #owner: ProcessOwner;
  readonly #redact: (text: string) => string;

  /** Opens, or makes, the ledger at `path`. */
  constructor(
    path: string,
    parts: {
      key: InstanceKey;
      clock: Clock;
      ids: Ids;
      owner?: ProcessOwner;
      redact?: (text: string) => string;
    },
  ) {
    this.#database = new LedgerDatabase(path);
    this.failures = new FailureMemory(this.#database, parts.redact);
    this.decisions = new DecisionLog(this.#database, parts.redact);
    this.pins = new Pins(this.#database);
    this.discovered = new DiscoveredStacks(this.#database);
    this.#key = parts.key;
    this.#clock = parts.clock;
    this.#ids = parts.ids;
    this.#redact = parts.redact ?? ((text) => text);
    this.#owner = parts.owner ?? { id: "", isAlive: () => false };
  }

  /** The last good release of a stack, or `undefined` when there is none. */
  current(key: StackKey): RecordedRelease | undefined {
    return this.#one(
      `SELECT r.* FROM stacks s JOIN releases r ON r.id = s.release_id WHERE s.context = ? AND s.name = ?`,
      key.context,
      key.name,
    );
  }

  /** The last good releases of all stacks. */
  currents(): RecordedRelease[] {
    return this.#all(`SELECT r.* FROM stacks s JOIN releases r ON r.id = s.release_id`);
  }

  /** One release by its id. */
  release(id: string): RecordedRelease | undefined {
    return this.#one(`SELECT * FROM releases WHERE id = ?`, id);
  }

  /** The releases of a stack, newest first. */
  history(key: StackKey, limit: number): RecordedRelease[] {
    return this.#all(
      `SELECT * FROM releases WHERE context = ? AND name = ? ORDER BY number DESC LIMIT ?`,
      key.context,
      key.name,
      limit,
    );
  }

  /** A recorded release with its model and variables, ready to be deployed again. */
  open(recorded: RecordedRelease): Release {
    const [row] = this.#database.all(`SELECT sealed FROM releases WHERE id = ?`, recorded.id);
    if (row === undefined) {
      throw new StackwrightError(
        "not_found",
        `release ${recorded.id} is not in ${this.#database.path}`,
      );
    }
    const { key, revision, target, digest, services, closure, live, configuration } = recorded;
    const { model, invocation } = JSON.parse(this.#key.open(row["sealed"] as Uint8Array));
    const facts = { key, revision, target, digest, services, closure, live };
    return { ...facts, ...(configuration && { configuration }), model, invocation };
  }

  /**
   * Records that `release` is about to be applied. Nothing may be changed before this returns. What an
   * ended process left open for the stack is closed: this release takes its place.
   *
   * Throws `conflict` while another process that still runs has the stack in its hands.
   */
  beginDeploy(release: Release): Intent {
    const id = this.#ids.next();
    const intent: Intent = {
      id: this.#ids.next(),
      key: release.key,
      kind: "deploy",
      releaseId: id,
      options: {},
    };
    const { model, invocation, ...facts } = release;
    this.#database.transaction(() => {
      this.#takeOver(release.key);
      this.#database.run(
        `INSERT INTO releases (id, context, name, number, digest, revision, status, created_at, facts, sealed)
         VALUES (?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM releases WHERE context = ? AND name = ?),
                 ?, ?, 'applying', ?, ?, ?)`,
        id,
        release.key.context,
        release.key.name,
        release.key.context,
        release.key.name,
        release.digest,
        release.revision.id,
        this.#now(),
        JSON.stringify({ ...withoutCredentials(facts), images: {} }),
        this.#key.seal(JSON.stringify({ model, invocation })),
      );
      this.#insertIntent(intent);
    });
    return intent;
  }

  /** Records that a stack is about to be removed; as {@link beginDeploy}. */
  beginDestroy(key: StackKey, options: Readonly<Record<string, boolean>>): Intent {
    const intent: Intent = { id: this.#ids.next(), key, kind: "destroy", options };
    this.#database.transaction(() => {
      this.#takeOver(key);
      this.#insertIntent(intent);
    });
    return intent;
  }

  /**
   * Closes an intent whose release is healthy and makes that release the current one. The failure that
   * is remembered of the stack is over then, unless `keepsFailure`: it is about another release, which
   * is still wanted.
   */
  succeed(
    intent: Intent,
    images: Readonly<Record<string, string>>,
    message: string,
    { keepsFailure = false }: { readonly keepsFailure?: boolean } = {},
  ): void {
    const releaseId = intent.releaseId;
    if (releaseId === undefined) {
      throw new StackwrightError("internal", "BUG: intent without release");
    }
    this.#database.transaction(() => {
      this.#database.run(
        `UPDATE releases SET facts = json_set(facts, '$.images', json(?)) WHERE id = ?`,
        JSON.stringify(images),
        releaseId,
      );
      this.#setStatus(releaseId, "deployed", message);
      this.#database.run(
        `INSERT INTO stacks (context, name, release_id) VALUES (?, ?, ?)
         ON CONFLICT (context, name) DO UPDATE SET release_id = excluded.release_id`,
        intent.key.context,
        intent.key.name,
        releaseId,
      );
      if (!keepsFailure) this.failures.clear(intent.key);
      this.#closeIntent(intent, "succeeded", message);
    });
  }

  /** Closes an intent whose release failed; the current release stays what it was. */
  fail(intent: Intent, status: "failed" | "rolled_back", message: string): void {
    this.#database.transaction(() => {
      if (intent.releaseId !== undefined) this.#setStatus(intent.releaseId, status, message);
      this.#closeIntent(intent, status, message);
    });
  }

  /** Closes the intent of a destroy that is done: the stack has no release any more, its history stays. */
  destroyed(intent: Intent, message: string): void {
    this.#database.transaction(() => {
      this.#database.run(
        `DELETE FROM stacks WHERE context = ? AND name = ?`,
        intent.key.context,
        intent.key.name,
      );
      this.failures.clear(intent.key);
      this.pins.remove(intent.key);
      this.discovered.remove(intent.key);
      this.#closeIntent(intent, "succeeded", message);
    });
  }

  /**
   * Replaces what the current release was made from by an equal release made from other inputs (a
   * comment in a compose file), so that the next look compares with those.
   */
  refresh(recorded: RecordedRelease, release: Release): void {
    const { model, invocation, ...facts } = release;
    this.#database.transaction(() =>
      this.#database.run(
        `UPDATE releases SET revision = ?, digest = ?, facts = ?, sealed = ? WHERE id = ?`,
        release.revision.id,
        release.digest,
        JSON.stringify({ ...withoutCredentials(facts), images: recorded.images }),
        this.#key.seal(JSON.stringify({ model, invocation })),
        recorded.id,
      )
    );
  }

  /**
   * Moves the current release to newer revisions that mean the same to it, so that the next look
   * compares with those. `configuration` is that of the configuration where it lies elsewhere.
   */
  moveRevision(
    recorded: RecordedRelease,
    revision: Release["revision"],
    configuration?: Release["revision"],
  ): void {
    const facts = withoutCredentials({ revision, ...(configuration && { configuration }) });
    this.#database.transaction(() =>
      this.#database.run(
        `UPDATE releases SET revision = ?, facts = json_patch(facts, json(?)) WHERE id = ?`,
        revision.id,
        JSON.stringify({ ...facts, configuration: facts.configuration ?? null }),
        recorded.id,
      )
    );
  }

  /** What was under way when its process ended, oldest first. */
  openIntents(): Intent[] {
    const rows = this.#database.all(
      `SELECT * FROM intents WHERE closed_at IS NULL ORDER BY opened_at, id`,
    );
    const abandoned = rows.filter((row) => !this.#isElsewhere(row));
    return abandoned.map((row) => ({
      id: String(row["id"]),
      key: { context: String(row["context"]), name: String(row["name"]) },
      kind: row["kind"] === "destroy" ? "destroy" : "deploy",
      ...(row["release_id"] === null ? {} : { releaseId: String(row["release_id"]) }),
      options: JSON.parse(String(row["options"])),
    }));
  }

  /** Proves that the ledger can be written, by writing. */
  checkWritable(): void {
    this.#database.checkWritable();
  }

  /** Closes the database. May be called twice. */
  close(): void {
    this.#database.close();
  }

  /** Whether an intent is in the hands of another process that runs. */
  #isElsewhere(row: Row): boolean {
    const owner = String(row["owner"]);
    return owner !== this.#owner.id && this.#owner.isAlive(owner);
  }

  #takeOver(key: StackKey): void {
    const open = this.#database.all(
      `SELECT * FROM intents WHERE context = ? AND name = ? AND closed_at IS NULL`,
      key.context,
      key.name,
    );
    for (const row of open) {
      if (this.#isElsewhere(row)) {
        throw new StackwrightError(
          "conflict",
          `another process (${row["owner"]}) is changing ${key.name}: try again when it is done`,
        );
      }
      const message = "interrupted; a later release took its place";
      if (row["release_id"] !== null) this.#setStatus(String(row["release_id"]), "failed", message);
      this.#database.run(
        `UPDATE intents SET closed_at = ?, outcome = 'failed', message = ? WHERE id = ?`,
        this.#now(),
        message,
        String(row["id"]),
      );
    }
  }

  #insertIntent(intent: Intent): void {
    this.#database.run(
      `INSERT INTO intents (id, context, name, kind, release_id, options, owner, opened_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      intent.id,
      intent.key.context,
      intent.key.name,
      intent.kind,
      intent.releaseId ?? null,
      JSON.stringify(intent.options),
      this.#owner.id,
      this.#now(),
    );
  }

  #closeIntent(intent: Intent, outcome: string, message: string): void {
    this.#database.run(
      `UPDATE intents SET closed_at = ?, outcome = ?, message = ? WHERE id = ?`,
      this.#now(),
      outcome,
      this.#redact(message),
      intent.id,
    );
  }

  #setStatus(releaseId: string, status: ReleaseStatus, message: string): void {
    this.#database.run(
      `UPDATE releases SET status = ?, message = ?, finished_at = ? WHERE id = ?`,
      status,
      this.#redact(message),
      this.#now(),
      releaseId,
    );
  }

  #now(): number {
    return this.#clock.now().getTime();
  }

  #one(sql: string, ...values: (string | number)[]): RecordedRelease | undefined {
    return this.#all(sql, ...values)[0];
  }

  #all(sql: string, ...values: (string | number)[]): RecordedRelease[] {
    return this.#database.all(sql, ...values).map(toRecordedRelease);
  }
}

function toRecordedRelease(row: Row): RecordedRelease {
  const facts = JSON.parse(String(row["facts"]));
  const finishedAt = row["finished_at"];
  return {
    ...facts,
    id: String(row["id"]),
    number: Number(row["number"]),
    status: row["status"] as ReleaseStatus,
    message: String(row["message"]),
    createdAt: new Date(Number(row["created_at"])),
    ...(finishedAt === null ? {} : { finishedAt: new Date(Number(finishedAt)) }),
  };
}

/** The ledger's clear part must not hold what a URL may carry. */
function withoutCredentials<T extends Pick<Release, "revision" | "configuration">>(facts: T): T {
  const { revision, configuration } = facts;
  return {
    ...facts,
    revision: withoutUserInfo(revision),
    ...(configuration === undefined ? {} : { configuration: withoutUserInfo(configuration) }),
  };
}

function withoutUserInfo(revision: Release["revision"]): Release["revision"] {
  const { source } = revision;
  const url = source.url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1");
  return { ...revision, source: { ...source, url } };
}
