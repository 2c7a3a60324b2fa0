import { clip, LONGEST_MESSAGE, type Release, type StackKey } from "../model/mod.ts";
import type { Clock, Ids } from "../system/mod.ts";
import { DecisionLog } from "./decision_log.ts";
import { DeferredDeployments } from "./deferred.ts";
import { DiscoveredStacks } from "./discovered_stacks.ts";
import { FailureMemory } from "./failure_memory.ts";
import { FoundCommits } from "./found_commits.ts";
import type { InstanceKey } from "./instance_key.ts";
import { Intents } from "./intents.ts";
import { LedgerDatabase, type OpeningOptions } from "./ledger_database.ts";
import type { RedactAbout } from "./redact_about.ts";
import { NotedPulls } from "./noted_pulls.ts";
import { Owners } from "./owners.ts";
import { PersonHolds } from "./person_holds.ts";
import { Pins } from "./pins.ts";
import type { Processes } from "./processes.ts";
import { Reconciliations } from "./reconciliations.ts";
import { ServiceSettings } from "./service_settings.ts";
import type { RecordedRelease } from "./recorded_release.ts";
import { ReleaseClaims } from "./release_claims.ts";
import { Releases } from "./releases.ts";
import { RunArchive } from "./run_archive.ts";
import { ShownTrees } from "./shown_trees.ts";
import { SourceFailures } from "./source_failures.ts";
import { StoppedByJobs } from "./stopped_by_jobs.ts";
import { Stops } from "./stops.ts";

interface LedgerParts extends OpeningOptions {
  /** Seals data that may hold secrets. */
  readonly key: InstanceKey;
  readonly clock: Clock;
  readonly ids: Ids;
  /** By default, what others began was left by processes that ended. */
  readonly processes?: Processes;
  readonly redact: RedactAbout;
}

const ALONE: Processes = { own: "", isAlive: () => false, enter() {}, leave() {} };

type Recorded = Pick<RecordedRelease, "id">;

/** The tables of the ledger, and the reads that need several of them. */
export class LedgerTables {
  /** The failed release of each stack. */
  readonly failures: FailureMemory;
  /** Decisions, with their reasons. */
  readonly decisions: DecisionLog;
  /** Stacks that a person rolled back. */
  readonly pins: Pins;
  /** Stacks that a person stopped. */
  readonly stops: Stops;
  /** What runs of jobs have stopped. */
  readonly stoppedByJobs: StoppedByJobs;
  /** How stacks react to events of their containers. */
  readonly reconciliations: Reconciliations;
  /** Stacks that a person holds as they are. */
  readonly holds: PersonHolds;
  /** Deployments that wait for a sync window. */
  readonly deferred: DeferredDeployments;
  /** What releases claim of their engines. */
  readonly claims: ReleaseClaims;
  /** What pulls may change for good, while they go on. */
  readonly pulls: NotedPulls;
  /** The commits that references were last found at. */
  readonly found: FoundCommits;
  /** Owners of stacks. */
  readonly owners: Owners;
  /** Stacks that configurations named or discovered. */
  readonly discovered: DiscoveredStacks;
  /** The last finished runs. */
  readonly runs: RunArchive;
  /** The trees that containers of each stack saw, with times. */
  readonly shownTrees: ShownTrees;
  /** The sources that cannot be read. */
  readonly sources: SourceFailures;
  /** Settings that the service was started with last. */
  readonly service: ServiceSettings;
  protected readonly database: LedgerDatabase;
  protected readonly releases: Releases;
  protected readonly intents: Intents;
  protected readonly clock: Clock;
  protected readonly ids: Ids;
  protected readonly redact: RedactAbout;

  /** Opens, or makes, the ledger at `path`. */
  constructor(path: string, parts: LedgerParts) {
    const redact: RedactAbout = (text, ...about) =>
      parts.redact(clip(text, LONGEST_MESSAGE), ...about);
    this.database = new LedgerDatabase(path, parts);
    this.failures = new FailureMemory(this.database, redact);
    this.decisions = new DecisionLog(this.database, redact);
    this.pins = new Pins(this.database, redact);
    this.stops = new Stops(this.database);
    this.stoppedByJobs = new StoppedByJobs(this.database);
    this.reconciliations = new Reconciliations(this.database, redact);
    this.service = new ServiceSettings(this.database);
    this.holds = new PersonHolds(this.database, redact, () => parts.clock.now());
    this.deferred = new DeferredDeployments(this.database, parts.key);
    this.claims = new ReleaseClaims(this.database, parts.key);
    const processes = parts.processes ?? ALONE;
    this.pulls = new NotedPulls(this.database, processes);
    this.found = new FoundCommits(this.database, parts.clock);
    this.owners = new Owners(this.database);
    this.discovered = new DiscoveredStacks(this.database);
    this.runs = new RunArchive(this.database);
    this.shownTrees = new ShownTrees(this.database);
    this.sources = new SourceFailures(this.database, redact);
    this.releases = new Releases(this.database, parts.key);
    this.intents = new Intents(this.database, processes);
    this.clock = parts.clock;
    this.ids = parts.ids;
    this.redact = redact;
  }

  /** The last good release of a stack, or `undefined` when there is none. */
  readonly current: Releases["current"] = (key) => this.releases.current(key);
  /** The last good releases of all stacks, or of those on one context. */
  readonly currents: Releases["currents"] = (context) => this.releases.currents(context);
  /** The contexts on which a stack has a release. */
  readonly contexts: Releases["contexts"] = () => this.releases.contexts();
  /** Stacks with a current release, with its source and time. */
  readonly deployedStacks: Releases["deployedStacks"] = () => this.releases.deployedStacks();
  /** One release by its id; none without one, as an intent to destroy has. */
  readonly release: Releases["find"] = (id) => this.releases.find(id);
  /** The releases of a stack, newest first; a next page has those numbered below `before`. */
  readonly history: Releases["history"] = (...asked) => this.releases.history(...asked);
  /** The releases of a stack whose containers may still be there; see {@link Releases.alive}. */
  readonly alive: Releases["alive"] = (key) => this.releases.alive(key);
  /** The number of stacks of a source that have a current release. */
  readonly countOf: Releases["countOf"] = (source) => this.releases.countOf(source);
  /** Those of some digests that a stack's releases made; see {@link Releases.madeDigests}. */
  readonly madeDigests: Releases["madeDigests"] = (...asked) => this.releases.madeDigests(...asked);
  /** Volumes that were there before some releases; see {@link ReleaseContents.taken}. */
  readonly taken = (releases: readonly Recorded[]) =>
    this.releases.contents.taken(releases.map(({ id }) => id));
  /** A number that changes when another process has changed the ledger. */
  readonly foreignVersion: LedgerDatabase["foreignVersion"] = () => this.database.foreignVersion();
  /** A text that changes with each change of the ledger, by whichever process. */
  readonly version: LedgerDatabase["version"] = () => this.database.version();
  /** A recorded release with its model and variables, ready to be deployed again. */
  readonly open: Releases["open"] = (recorded) => this.releases.open(recorded);
  /** The services of a recorded release. Throws `not_found` when it is gone. */
  readonly services = ({ id }: Recorded) => this.releases.contents.read("services", id);
  /** The input closure of a recorded release; as {@link services}. */
  readonly closure = ({ id }: Recorded) => this.releases.contents.read("closure", id);
  /** The files of a recorded release that containers may write to; as {@link services}. */
  readonly live = ({ id }: Recorded) => this.releases.contents.read("live", id);
  /** Another running process that is changing a stack, for people; `undefined` when there is none. */
  readonly heldElsewhere: Intents["heldElsewhere"] = (key) => this.intents.heldElsewhere(key);
  /** Services that ran before a stack's last deployment, if that came to no end and is not under way elsewhere. */
  readonly ranBefore = (key: StackKey): readonly string[] => {
    const { ranBefore = [] } = this.intents.unsettled(key) ?? {};
    return ranBefore.length === 0 || this.heldElsewhere(key) === undefined ? ranBefore : [];
  };
  /** Whether the last change of a stack is a destroy that failed, or was cut off. */
  readonly leftDestroy: Intents["leftDestroy"] = (key) => this.intents.leftDestroy(key);
  /** Open intents that no work is at any more, oldest first. */
  readonly interrupted: Intents["interrupted"] = () => this.intents.interrupted();
  /** All open intents: of this process, of others, and those that no work is at. */
  readonly underWay: Intents["open"] = () => this.intents.open();
  /** Whether such an intent is of a stack; only of `kind` where that is given. */
  readonly isUnderWay: Intents["isOpen"] = (key, kind) => this.intents.isOpen(key, kind);
  /** Whether one of {@link interrupted} is of a stack. */
  readonly isCutOff: Intents["isCutOff"] = (key) => this.intents.isCutOff(key);
  /** Whether an intent is not closed yet. */
  readonly isStillOpen: Intents["isStillOpen"] = (intent) => this.intents.isStillOpen(intent);
  /** Checks that the ledger can be written, by taking its write lock. */
  readonly checkWritable: LedgerDatabase["checkWritable"] = () => this.database.checkWritable();

  /** What containers of a recorded release see of it; as {@link services}. */
  shown(
    { id, inactive }: Pick<RecordedRelease, "id" | "inactive">,
  ): Pick<Release, "services" | "inactive" | "live"> {
    const shown = { services: this.services({ id }), live: this.live({ id }) };
    return inactive === undefined ? shown : { ...shown, inactive };
  }

  /**
   * A text that changes with each begin or end of a stack's intents, pin, hold and stop, its hand-over, and what
   * other contexts of its engine begin and end: only one of them may deploy it.
   */
  mark(key: StackKey): string {
    return this.marks(key)[0];
  }

  /** The {@link mark} of a stack, and that of its owners, which is a part of it. */
  marks(key: StackKey): readonly [mark: string, whose: string] {
    const { intents, pins, owners } = this;
    const whose = owners.mark(key);
    const held = this.holds.get(key)?.heldAt.getTime() ?? "";
    const stopped = this.stops.get(key)?.getTime() ?? "";
    const beside = owners.contextsBeside(key).map((context) => intents.mark({ ...key, context }));
    return [[intents.mark(key), pins.mark(key), held, stopped, whose, beside].join(" "), whose];
  }

  /**
   * Whether what was decided about a stack when its mark was `since` still holds: nobody is changing it in another
   * process, or has changed it since. Ask it at the last moment, in the transaction that records what begins.
   */
  isStill(key: StackKey, since: string): boolean {
    return this.heldElsewhere(key) === undefined && this.mark(key) === since;
  }

  /** Whichever of some releases was begun last, by its id; told by their order, since clocks are set back. */
  lastBegun(ids: readonly string[]): string | undefined {
    const [first, ...others] = ids;
    if (others.length === 0) return first;
    const sql = `SELECT id FROM releases WHERE id IN (SELECT value FROM json_each(?))
      ORDER BY rowid DESC LIMIT 1`;
    return this.database.all(sql, JSON.stringify(ids)).map((row) => String(row["id"]))[0];
  }

  /** The releases being deployed, by this process or others. */
  releasesUnderWay(): RecordedRelease[] {
    return this.intents.open().flatMap(({ releaseId }) => this.releases.find(releaseId) ?? []);
  }

  /** Closes the database. May be called twice. */
  close(): void {
    this.intents.leaveAll();
    this.database.close();
  }
}
