import { labelsOf, servicesOf } from "../../compose/mod.ts";
import {
  formatStackKey,
  formerOwner,
  isJobService,
  LABELS,
  type ObservedContainer,
  type Release,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { readMark } from "../mark.ts";
import { isJobRun } from "../running_jobs.ts";
import { isExecution } from "./find_jobs.ts";
import type { FoundJob } from "./found_job.ts";

/** Newest releases to search: one being deployed, and those it may go back to. */
const MOST_RELEASES = 5;

interface Recorded extends Pick<Release, "configuration" | "revision"> {
  readonly id: string;
  readonly status: string;
  readonly owner?: StackOwner;
}

/** Port for the recorded releases of a stack, to find out which services their author made jobs. */
interface RecordedJobs<R extends Recorded> {
  current(key: StackKey): R | undefined;
  /** The newest releases of a stack, newest first. */
  history(key: StackKey, count: number): readonly R[];
  services(release: R): Release["services"];
  /** The release with its model. */
  open(release: R): Pick<Release, "model">;
  /** The owner of a stack, and whether it was handed over: labels may name its owner before then. */
  readonly owners: {
    get(key: StackKey): (StackOwner & { readonly adopted: boolean }) | undefined;
  };
}

interface Releases<R> {
  readonly current: R | undefined;
  /** Whether the stack's owner deployed the current one, so that former owners have no jobs any more. */
  readonly isOwners: boolean;
  /** The newest ones, newest first; once the current one is the owner's, without former owners'. */
  readonly history: readonly R[];
}

/** Services of a release by name: digest, and whether deployments start it. */
type Said = ReadonlyMap<string, { readonly digest: string; readonly autostart: boolean }>;

/** Whether the newest release of a stack is being applied: the stack is ours before it has one. */
function isApplying([newest]: readonly Recorded[]): boolean {
  return newest?.status === "applying";
}

/**
 * Tells whether a service was made a job by its author. Containers also carry their image's labels,
 * and an image's author must not have services run on a schedule, stop others or delay deployments.
 * So labels are taken from the recorded release of the container, and from the container only if
 * nothing is recorded of its stack.
 *
 * Each release, and the list of those of a stack, is read once, with a pause afterwards: a stack may have any number of jobs.
 */
class AuthorsJobs<R extends Recorded> {
  readonly #ledger: RecordedJobs<R>;
  readonly #pauses = createPauses(1);
  readonly #releases = new Map<string, Releases<R>>();
  readonly #said = new Map<string, Said>();
  readonly #called = new Map<string, ReadonlySet<string>>();

  constructor(ledger: RecordedJobs<R>) {
    this.#ledger = ledger;
  }

  /** Whether a container runs a job, or belongs to a service that its author made one. */
  async isJob(
    key: StackKey,
    container: Pick<ObservedContainer, "service" | "labels" | "name">,
  ): Promise<boolean> {
    const { labels, service } = container;
    const digest = labels[LABELS.digest];
    const { current, history } = await this.releasesOf(key);
    const isRecorded = current !== undefined || isApplying(history);
    // Anybody's container may have the name of a stack in a label, such as one that builds an image.
    if (digest === undefined) return !isRecorded;
    if (isExecution(container) || !isJobService(labels)) return true;
    // A release that is being deployed is in the history before its containers are made.
    const releases = [...current ? [current] : [], ...history];
    for (const each of releases) {
      const found = (await this.#saidBy(each)).get(service);
      if (found?.digest !== digest) continue;
      // Jobs never have it, but before jobs existed every recorded service had it.
      return !found.autostart || (await this.#calledBy(each)).has(service);
    }
    // Of an older release, which left the container as it was.
    for (const each of releases) if ((await this.#calledBy(each)).has(service)) return true;
    return !isRecorded;
  }

  /** Whether a release of a stack has the very service that a container is of. */
  async isReleased(
    key: StackKey,
    { service, labels }: Pick<ObservedContainer, "service" | "labels">,
  ): Promise<boolean> {
    const { current, history } = await this.releasesOf(key);
    for (const each of [...current ? [current] : [], ...history]) {
      if ((await this.#saidBy(each)).get(service)?.digest === labels[LABELS.digest]) return true;
    }
    return false;
  }

  /** The recorded releases of a stack. */
  releasesOf(key: StackKey): Promise<Releases<R>> {
    return this.#once(this.#releases, { id: formatStackKey(key) }, () => {
      const [owner, current] = [this.#ledger.owners.get(key), this.#ledger.current(key)];
      const isOwners = current !== undefined && formerOwner(current, owner) === undefined;
      const history = this.#ledger.history(key, MOST_RELEASES)
        .filter((each) => !isOwners || formerOwner(each, owner) === undefined);
      return { current, isOwners, history };
    });
  }

  #saidBy(release: R): Promise<Said> {
    return this.#once(this.#said, release, () => {
      const services = this.#ledger.services(release);
      return new Map(services.map(({ name, digest, expectation: { autostart } }) => [
        name,
        { digest, autostart },
      ]));
    });
  }

  #calledBy(release: R): Promise<ReadonlySet<string>> {
    return this.#once(this.#called, release, () => {
      const services = Object.entries(servicesOf(this.#ledger.open(release).model));
      const called = services.filter(([, each]) => isJobService(labelsOf(each)));
      return new Set(called.map(([name]) => name));
    });
  }

  async #once<T>(known: Map<string, T>, { id }: Pick<R, "id">, read: () => T): Promise<T> {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = read();
    known.set(id, found);
    await this.#pauses.after(1);
    return found;
  }
}

/**
 * Those of `jobs` that their authors made jobs, without those that another manager of this engine
 * deployed and runs: doco-cd, or another Stackwright, also under the name of a stack that is ours. A
 * stack whose first release is still being applied is ours, so its jobs are found as soon as their
 * containers exist.
 */
export async function calledJobs<R extends Recorded>(
  ledger: RecordedJobs<R>,
  jobs: readonly FoundJob[],
): Promise<FoundJob[]> {
  const authors = new AuthorsJobs(ledger);
  const isAnothers = async ({ key, container }: FoundJob) => {
    const { maker, configuration } = readMark(container.labels);
    if (maker !== "stackwright") return maker === "doco-cd";
    const { current, history, isOwners } = await authors.releasesOf(key);
    if (current === undefined && !isApplying(history)) return true;
    const owner = ledger.owners.get(key);
    if (owner === undefined || (configuration ?? owner.source) === owner.source) return false;
    // The new owner's deployment leaves what it has just so with its label, and others' with its leave.
    return !owner.adopted || isOwners && !await authors.isReleased(key, container);
  };
  return await filtered(
    jobs,
    async (each) => !await isAnothers(each) && await authors.isJob(each.key, each.container),
  );
}

/**
 * Those of `running` that a deployment waits for: services that are jobs, and {@link isJobRun runs}.
 */
export async function awaitedJobs<R extends Recorded>(
  ledger: RecordedJobs<R>,
  key: StackKey,
  running: readonly ObservedContainer[],
): Promise<ObservedContainer[]> {
  const authors = new AuthorsJobs(ledger);
  return await filtered(
    running,
    async (each) => isJobRun(each) || await authors.isJob(key, each),
  );
}

async function filtered<T>(values: readonly T[], isWanted: (value: T) => Promise<boolean>) {
  const wanted: T[] = [];
  for (const value of values) if (await isWanted(value)) wanted.push(value);
  return wanted;
}
