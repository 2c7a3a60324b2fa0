import { type Release, type StackKey, StackwrightError } from "../model/mod.ts";
import type { Clock, Ids, ProcessOwner } from "../system/mod.ts";
import { DecisionLog } from "./decision_log.ts";
import { DeferredDeployments } from "./deferred.ts";
import { DiscoveredStacks } from "./discovered_stacks.ts";
import { forgetGoneStacks, forgetReleases } from "./forget_releases.ts";
import { FailureMemory } from "./failure_memory.ts";
import type { InstanceKey } from "./instance_key.ts";
import { type Intent, Intents } from "./intents.ts";
import { LedgerDatabase } from "./ledger_database.ts";
import type { RedactAbout } from "./redact_about.ts";
import { Owners } from "./owners.ts";
import { PersonHolds } from "./person_holds.ts";
import { type Pin, Pins } from "./pins.ts";
import { Reconciliations } from "./reconciliations.ts";
import { ServiceSettings } from "./service_settings.ts";
import type { RecordedRelease } from "./recorded_release.ts";
import { type DeployedStack, Releases } from "./releases.ts";
import { RunArchive } from "./run_archive.ts";
import { ShownTrees } from "./shown_trees.ts";
import { Stops } from "./stops.ts";

export type { Intent } from "./intents.ts";
export type { RecordedRelease, ReleaseStatus } from "./recorded_release.ts";

/** What a finishing of a deployment must know, if its process ends: nothing by default. */
interface Begun {
  /** Services that ran then. */
  readonly ranBefore?: readonly string[];
  /** Whether services go that the release does not have. */
  readonly removeOrphans?: boolean;
}

/**
 * The durable memory: which release each stack has, every release before it, and what was under way
 * when the process ended. Calls are synchronous, and durable when they return
 * where they do not say otherwise.
 *
 * Every call throws `data_dir_unusable` when the disk is full or read-only, and `ledger_unusable`
 * when the database is damaged.
 */
export class Ledger {
  /** The release of each stack that failed last. */
  readonly failures: FailureMemory;
  /** Why something was done, or not. */
  readonly decisions: DecisionLog;
  /** Stacks that were put back on purpose. */
  readonly pins: Pins;
  /** Stacks that a person stopped. */
  readonly stops: Stops;
  /** How stacks react to what happens to their containers. */
  readonly reconciliations: Reconciliations;
  /** Stacks that a person holds as they are. */
  readonly holds: PersonHolds;
  /** What waits for a sync window to open. */
  readonly deferred: DeferredDeployments;
  /** Whose each stack is. */
  readonly owners: Owners;
  /** Stacks that were found by auto-discovery. */
  readonly discovered: DiscoveredStacks;
  /** The last finished runs. */
  readonly runs: RunArchive;
  /** Which tree the files of a stack were at which time. */
  readonly shownTrees: ShownTrees;
  /** What the service was started with last. */
  readonly service: ServiceSettings;
  readonly #database: LedgerDatabase;
  readonly #releases: Releases;
  readonly #intents: Intents;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #redact: RedactAbout;

  /** Opens, or makes, the ledger at `path`. */
  constructor(
    path: string,
    parts: {
      key: InstanceKey;
      clock: Clock;
      ids: Ids;
      owner?: ProcessOwner;
      redact: RedactAbout;
      /** Is told that the file was deleted while it was open, and was written anew. */
      onRewritten?: () => void;
    },
  ) {
    this.#database = new LedgerDatabase(path, parts.onRewritten);
    this.failures = new FailureMemory(this.#database, parts.redact);
    this.decisions = new DecisionLog(this.#database, parts.redact);
    this.pins = new Pins(this.#database, parts.redact);
    this.stops = new Stops(this.#database);
    this.reconciliations = new Reconciliations(this.#database);
    this.service = new ServiceSettings(this.#database);
    this.holds = new PersonHolds(this.#database, parts.redact, () => parts.clock.now());
    this.deferred = new DeferredDeployments(this.#database, parts.key);
    this.owners = new Owners(this.#database);
    this.discovered = new DiscoveredStacks(this.#database);
    this.runs = new RunArchive(this.#database);
    this.shownTrees = new ShownTrees(this.#database);
    this.#releases = new Releases(this.#database, parts.key);
    const owner = parts.owner ?? { id: "", isAlive: () => false };
    this.#intents = new Intents(this.#database, owner);
    this.#clock = parts.clock;
    this.#ids = parts.ids;
    this.#redact = parts.redact;
  }

  /** The last good release of a stack, or `undefined` when there is none. */
  current(key: StackKey): RecordedRelease | undefined {
    return this.#releases.current(key);
  }

  /** The last good releases of all stacks. */
  currents(): RecordedRelease[] {
    return this.#releases.currents();
  }

  /** Which stacks are deployed, from where and since when. */
  deployedStacks(): DeployedStack[] {
    return this.#releases.deployedStacks();
  }

  /** One release by its id. */
  release(id: string): RecordedRelease | undefined {
    return this.#releases.find(id);
  }

  /** The releases of a stack, newest first; on the next page those with numbers below `before`. */
  history(key: StackKey, limit: number, before = Number.MAX_SAFE_INTEGER): RecordedRelease[] {
    return this.#releases.history(key, limit, before);
  }

  /** A recorded release with its model and variables, ready to be deployed again. */
  open(recorded: RecordedRelease): Release {
    return this.#releases.open(recorded);
  }

  /**
   * Records that `release` is about to be applied. Nothing may be changed before this returns. What an
   * ended process left open for the stack is closed: this release takes its place.
   *
   * Throws `conflict` while another process that still runs has the stack in its hands.
   */
  beginDeploy(release: Release): Intent {
    let intent: Intent | undefined;
    this.#database.transaction(() => void (intent = this.#record(release)));
    if (intent === undefined) throw new StackwrightError("internal", "BUG: no intent was recorded");
    return intent;
  }

  /**
   * The same for a release that was decided when {@link mark} was `since`; `pin` holds from then on,
   * unless the intent fails.
   * Returns `undefined`, and nothing is recorded, when another process has the stack in its hands or
   * had it since: then what was decided is out of date.
   */
  beginDecided(
    release: Release,
    since: string,
    { pin, ...begun }: Begun & { readonly pin?: Pin } = {},
  ): Intent | undefined {
    const { key } = release;
    let intent: Intent | undefined;
    this.#database.transaction(() => {
      if (this.#intents.heldElsewhere(key) !== undefined || this.mark(key) !== since) return;
      intent = this.#record(release, begun);
      if (pin !== undefined) this.pins.begin(key, pin, intent.id);
    });
    return intent;
  }

  /**
   * A text that stays the same until anybody begins or ends something for a stack, pins it, holds it,
   * or lets go of it.
   */
  mark(key: StackKey): string {
    const pin = this.pins.get(key);
    const pinned = pin === undefined ? "" : `${pin.releaseId} ${pin.pinnedAt.getTime()}`;
    const held = this.holds.get(key)?.heldAt.getTime() ?? "";
    return `${this.#intents.mark(key)} ${pinned} ${held}`;
  }

  /** The process that has a stack in its hands, if another one that still runs does. */
  heldElsewhere(key: StackKey): string | undefined {
    return this.#intents.heldElsewhere(key);
  }

  /** Records that a stack is about to be removed; as {@link beginDeploy}. */
  beginDestroy(key: StackKey, options: Readonly<Record<string, boolean>>): Intent {
    const id = this.#ids.next();
    const intent: Intent = { id, key, kind: "destroy", options, ranBefore: [] };
    this.#database.transaction(() => {
      this.#takeOver(key);
      this.#intents.add(intent, this.#now());
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
    const { key, releaseId } = intent;
    if (releaseId === undefined) {
      throw new StackwrightError("internal", "BUG: intent without release");
    }
    this.#database.transaction(() => {
      this.#releases.makeCurrent(key, releaseId, images);
      this.#releases.setStatus(releaseId, "deployed", this.#redact(message, key), this.#now());
      if (!keepsFailure) this.failures.clear(key);
      this.pins.end(key, intent.id, "succeeded");
      this.#finish(intent, "succeeded", message);
      forgetReleases(this.#database, key);
    });
  }

  /** Closes an intent whose release failed; the current release stays what it was. */
  fail(intent: Intent, status: "failed" | "rolled_back", message: string): void {
    this.#database.transaction(() => {
      this.#fail(intent, status, message);
      forgetReleases(this.#database, intent.key);
    });
  }

  /** Closes the intent of a destroy that is done: the stack has no release any more, its history stays. */
  destroyed(intent: Intent, message: string): void {
    this.#database.transaction(() => {
      this.#releases.forgetCurrent(intent.key);
      this.failures.clear(intent.key);
      this.pins.remove(intent.key);
      this.stops.remove(intent.key);
      this.reconciliations.remove(intent.key);
      this.holds.remove(intent.key);
      this.deferred.remove(intent.key);
      this.discovered.remove(intent.key);
      this.owners.remove(intent.key);
      this.#finish(intent, "succeeded", message);
      forgetGoneStacks(this.#database, this.#now());
    });
  }

  /**
   * Replaces what the current release was made from by an equal release made from other inputs (a
   * comment in a compose file), so that the next look compares with those.
   */
  refresh(recorded: RecordedRelease, release: Release): void {
    this.#database.transaction(() => this.#releases.replace(recorded, release));
  }

  /**
   * Moves the current release to newer revisions that mean the same to it, so that the next look
   * compares with those. `configuration` is that of the configuration where it lies elsewhere.
   *
   * A power cut may undo it, which costs that look and nothing else: a commit that concerns no stack
   * must not wait for the disk once for each of them.
   */
  moveRevision(
    recorded: RecordedRelease,
    revision: Release["revision"],
    configuration?: Release["revision"],
  ): void {
    this.#database.casually(() => this.#releases.move(recorded, revision, configuration));
  }

  /** What was under way when its process ended, oldest first. */
  openIntents(): Intent[] {
    return this.#intents.abandoned();
  }

  /** What is under way, in this process or another, and what an ended process left open. */
  underWay(): Intent[] {
    return this.#intents.open();
  }

  /** The releases that are being deployed, by this process or another. */
  releasesUnderWay(): RecordedRelease[] {
    return this.#intents.open().flatMap(({ releaseId }) => {
      const found = releaseId === undefined ? undefined : this.#releases.find(releaseId);
      return found === undefined ? [] : [found];
    });
  }

  /** Proves that the ledger can be written, by writing. */
  checkWritable(): void {
    this.#database.checkWritable();
  }

  /** Moves what was written lately into the database's own file. */
  checkpoint(): void {
    this.#database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Closes the database. May be called twice. */
  close(): void {
    this.#database.close();
  }

  #record(release: Release, { ranBefore = [], removeOrphans = false }: Begun = {}): Intent {
    const { key } = release;
    const releaseId = this.#ids.next();
    const id = this.#ids.next();
    const options = { removeOrphans };
    const intent: Intent = { id, key, kind: "deploy", releaseId, options, ranBefore };
    this.#takeOver(key);
    this.#releases.add(releaseId, release, this.#now());
    this.#intents.add(intent, this.#now());
    return intent;
  }

  #takeOver(key: StackKey): void {
    for (const intent of this.#intents.leftOpen(key)) {
      this.#fail(intent, "failed", "interrupted; a later release took its place");
    }
  }

  #fail(intent: Intent, status: "failed" | "rolled_back", message: string): void {
    if (intent.releaseId !== undefined) {
      this.#releases.setStatus(
        intent.releaseId,
        status,
        this.#redact(message, intent.key),
        this.#now(),
      );
    }
    this.pins.end(intent.key, intent.id, "failed");
    this.#finish(intent, status, message);
  }

  #finish(intent: Intent, outcome: string, message: string): void {
    this.#intents.finish(intent, outcome, this.#redact(message, intent.key), this.#now());
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
