import {
  type Deployment,
  type Drift,
  type EngineVerdict,
  formatStackKey,
  type FoundDrift,
  type LeftAlone,
  NO_DRIFT,
  type ReconciliationOptions,
  type StackKey,
  UNWELL_MS,
} from "../model/mod.ts";
import { keyIn, type Row } from "./ledger_database.ts";
import { RedactedTable } from "./ledger_table.ts";
import { jsonIn } from "./json_in.ts";

/** Milliseconds for which a restart is remembered: the longest window that makes sense. */
const KEPT_MS = 7 * 24 * 3600 * 1000;
/** Restarts of a stack to remember: ten for each of the most containers it may have. */
const MOST_RESTARTS = 10_000;
/** Verdicts of a swarm to keep of a stack. */
const MOST_VERDICTS = 1000;

/** A container that was restarted as unhealthy. */
interface RestartedContainer {
  readonly key: StackKey;
  /** Digest of its release: restarts count for one release only. */
  readonly release: string;
  /** Name of the container, which its replacements share. */
  readonly container: string;
}

/** What a stack's deployment says of a release of it that a person asks for. */
type ForReleases = Pick<Deployment, "removeOrphans" | "waitRunningJobs">;

/** How a stack reacts, and what holds for its earlier releases as well. */
type Settled = ReconciliationOptions & Partial<ForReleases>;

/** Records how each stack, as deployed, reacts to events of its containers, with restarts and drift. */
export class Reconciliations extends RedactedTable {
  /** How a stack reacts; `undefined` when nothing was recorded, or that is suspended. */
  get(key: StackKey): Settled | undefined {
    const row = this.database.rowOf("reconciliations", key);
    const { isSuspended, ...options } = row ? jsonIn(row, "options") : { isSuspended: true };
    return isSuspended ? undefined : { drift: "report", ...options };
  }

  /**
   * What a stack's deployment says of orphans and running jobs. Where nothing was recorded, as by older
   * versions, orphans stay, and jobs are waited for: nothing is lost by that.
   */
  forReleases(key: StackKey): ForReleases {
    const row = this.database.rowOf("reconciliations", key);
    const { removeOrphans, waitRunningJobs } = row ? jsonIn(row, "options") : {};
    return { removeOrphans: removeOrphans === true, waitRunningJobs: waitRunningJobs !== false };
  }

  /** Has a stack not react until it is resumed or settled, and forgets its restarts and drift. */
  suspend(key: StackKey): void {
    const row = this.database.rowOf("reconciliations", key);
    this.remove(key);
    if (row === undefined) return;
    const suspended = JSON.stringify({ ...jsonIn(row, "options"), isSuspended: true });
    this.database.put("reconciliations", key, { options: suspended });
  }

  /** Has a stack react again as before {@link suspend}. May be called for any. */
  resume(key: StackKey): void {
    const row = this.database.rowOf("reconciliations", key);
    if (row === undefined) return;
    const { isSuspended: _, ...options } = jsonIn(row, "options");
    this.settle(key, options);
  }

  /** Records how a stack reacts; writes only changes. */
  settle(key: StackKey, options: Settled): void {
    if (JSON.stringify(this.get(key)) === JSON.stringify(options)) return;
    this.database.put("reconciliations", key, { options: JSON.stringify(options) });
  }

  /** Number of times that a container was restarted since a moment. */
  restartsSince({ key, release, container }: RestartedContainer, since: Date): number {
    const [row] = this.database.all(
      `SELECT count(*) AS count FROM restarts
       WHERE context = ? AND name = ? AND release = ? AND container = ? AND at > ?`,
      key,
      release,
      container,
      since,
    );
    return Number(row?.["count"]);
  }

  /** Records a restart, and forgets old ones of the stack. */
  noteRestart({ key, release, container }: RestartedContainer, at: Date): void {
    this.database.transaction(() => {
      const old = `DELETE FROM restarts WHERE context = ? AND name = ? AND at < ?`;
      this.database.run(old, key, at.getTime() - KEPT_MS);
      this.database.add("restarts", key, { release, container, at });
      this.database.keepNewest("restarts", key, MOST_RESTARTS);
    });
  }

  /** The drift that the last look found; `undefined` when there was no look. */
  drift(key: StackKey): FoundDrift | undefined {
    const row = this.database.rowOf("drift", key);
    return row && foundIn(row);
  }

  /** The recorded drift of every stack, by formatted key. */
  drifts(): ReadonlyMap<string, FoundDrift> {
    return new Map(
      this.database.all(`SELECT * FROM drift`).map((row) => [
        formatStackKey(keyIn(row)),
        foundIn(row),
      ]),
    );
  }

  /** Drift of a stack without its secrets: as it is to be told, compared with and recorded. */
  masked(key: StackKey, drift: readonly Drift[]): Drift[] {
    const redact = (text: string) => this.redact(text, key);
    return drift.map((each) => {
      const { field, wanted, found } = each;
      return { ...each, field: redact(field), wanted: redact(wanted), found: redact(found) };
    });
  }

  /** Records the drift that a look found; verdicts of the swarm that were told, and what was left alone, stay. */
  noteDrift(key: StackKey, found: FoundDrift): void {
    const { verdicts, leftAlone } = this.drift(key) ?? {};
    this.#note(key, { ...found, ...(verdicts && { verdicts }), ...(leftAlone && { leftAlone }) });
  }

  /** Records that unhealthy containers are left alone. Returns those of which that was not known lately. */
  noteLeftAlone<Container extends Omit<LeftAlone, "at">>(
    key: StackKey,
    containers: readonly Container[],
    now: Date,
  ): Container[] {
    if (containers.length === 0) return [];
    const at = now.getTime();
    const found = this.drift(key) ?? NO_DRIFT;
    const known = new Map(found.leftAlone?.map((each) => [each.id, each]));
    for (const [id, each] of known) if (each.at <= at - UNWELL_MS) known.delete(id);
    const news = containers.filter(({ id }) => !known.has(id));
    for (const { id, name } of containers) known.set(id, { id, name, at });
    this.#note(key, { ...found, leftAlone: [...known.values()] });
    return news;
  }

  /** Writes only changes. */
  #note(key: StackKey, found: FoundDrift): void {
    if (JSON.stringify(this.drift(key)) === JSON.stringify(found)) return;
    this.database.put("drift", key, { found: JSON.stringify(found) });
  }

  /** Records the drift that a repair was made for. */
  noteTried(key: StackKey, drift: readonly Drift[]): void {
    const found = this.drift(key);
    if (found === undefined) return;
    this.#note(key, { ...found, tried: [...found.tried, ...drift] });
  }

  /** Records that verdicts of a swarm on services were told. */
  noteVerdicts(key: StackKey, told: readonly EngineVerdict[] = []): void {
    const found = this.drift(key) ?? NO_DRIFT;
    if (told.length === 0 && found.verdicts === undefined) return;
    const verdicts = told.slice(0, MOST_VERDICTS).map(({ id }) => id);
    this.#note(key, { ...found, verdicts });
  }

  /** Forgets a stack. */
  remove(key: StackKey): void {
    for (const table of ["reconciliations", "restarts", "drift"] as const) {
      this.database.removeRows(table, key);
    }
  }
}

function foundIn(row: Row): FoundDrift {
  return jsonIn(row, "found");
}
