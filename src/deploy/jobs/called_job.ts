import { labelsOf, objectAt, servicesOf } from "../../compose/mod.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  formatStackKey,
  formerOwner,
  LABELS,
  MIGRATION_LABEL_PREFIX,
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

type Labels = Readonly<Record<string, string>>;

/** Labels that say what a job does. */
const JOB_LABELS: ReadonlySet<string> = new Set(
  Object.values(BEHAVIOUR_LABELS).filter((each) => each.startsWith("stackwright.job."))
    .flatMap((each) => [each, each.replace(/^stackwright\./, MIGRATION_LABEL_PREFIX)]),
);

/** Whether the newest release of a stack is being applied: the stack is ours before it has one. */
function isApplying([newest]: readonly Recorded[]): boolean {
  return newest?.status === "applying";
}

/**
 * Tells whether a service was made a job by its author, and what it does. Containers also carry their
 * image's labels, and an image's author must not have services run on a schedule, stop others or delay
 * deployments. So which labels count is taken from the recorded release of the container, and from the
 * container only if nothing is recorded of its stack.
 *
 * Each release, and the list of those of a stack, is read once, with a pause afterwards: a stack may have any number of jobs.
 */
class AuthorsJobs<R extends Recorded> {
  readonly #ledger: RecordedJobs<R>;
  readonly #pauses = createPauses(1);
  readonly #releases = new Map<string, Releases<R>>();
  readonly #digests = new Map<string, Labels>();
  readonly #names = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

  constructor(ledger: RecordedJobs<R>) {
    this.#ledger = ledger;
  }

  /**
   * The labels of a container that runs a job, or belongs to a service that its author made one, without
   * what others say of what the job does.
   */
  async labelsOf(
    key: StackKey,
    container: Pick<ObservedContainer, "service" | "labels" | "name">,
  ): Promise<Labels | undefined> {
    const { labels, service } = container;
    const digest = labels[LABELS.digest];
    const { current, history } = await this.releasesOf(key);
    const isRecorded = current !== undefined || isApplying(history);
    // Anybody's container may have the name of a stack in a label, such as one that builds an image.
    if (digest === undefined) return isRecorded ? undefined : labels;
    if (isExecution(container)) return labels;
    // A release that is being deployed is in the history before its containers are made.
    const releases = [...current ? [current] : [], ...history];
    for (const each of releases) {
      if ((await this.#digestsOf(each))[service] !== digest) continue;
      return written(labels, (await this.#namesIn(each)).get(service));
    }
    // Of an older release, which left the container as it was.
    for (const each of releases) {
      const found = written(labels, (await this.#namesIn(each)).get(service));
      if (found !== undefined) return found;
    }
    return isRecorded ? undefined : labels;
  }

  /** Whether a release of a stack has the very service that a container is of. */
  async isReleased(
    key: StackKey,
    { service, labels }: Pick<ObservedContainer, "service" | "labels">,
  ): Promise<boolean> {
    const { current, history } = await this.releasesOf(key);
    for (const each of [...current ? [current] : [], ...history]) {
      if ((await this.#digestsOf(each))[service] === labels[LABELS.digest]) return true;
    }
    return false;
  }

  releasesOf(key: StackKey): Promise<Releases<R>> {
    return this.#once(this.#releases, { id: formatStackKey(key) }, () => {
      const [owner, current] = [this.#ledger.owners.get(key), this.#ledger.current(key)];
      const isOwners = current !== undefined && formerOwner(current, owner) === undefined;
      const history = this.#ledger.history(key, MOST_RELEASES)
        .filter((each) => !isOwners || formerOwner(each, owner) === undefined);
      return { current, isOwners, history };
    });
  }

  /** Digests of a release's services by name. */
  #digestsOf(release: R): Promise<Labels> {
    return this.#once(this.#digests, release, () => {
      const services = this.#ledger.services(release);
      return Object.fromEntries(services.map(({ name, digest }) => [name, digest]));
    });
  }

  /** Names of the job labels that a release's author wrote, by service; those of a swarm stand in two places. */
  #namesIn(release: R): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    return this.#once(this.#names, release, () => {
      const services = Object.entries(servicesOf(this.#ledger.open(release).model));
      return new Map(services.map(([name, each]) => {
        const all = { ...labelsOf(each), ...labelsOf(objectAt(each, "deploy")) };
        return [name, new Set(Object.keys(all).filter((label) => JOB_LABELS.has(label)))];
      }));
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

/** Labels of a container without those on jobs that its author did not write; nothing where it is no job then. */
function written(labels: Labels, names: ReadonlySet<string> = new Set()): Labels | undefined {
  const own = Object.entries(labels).filter(([name]) => !JOB_LABELS.has(name) || names.has(name));
  const kept = Object.fromEntries(own);
  return behaviourLabel(kept, BEHAVIOUR_LABELS.jobEnabled) === undefined ? undefined : kept;
}

/**
 * Those of `jobs` that their authors made jobs, without those that another manager of this engine
 * deployed and runs: doco-cd, or another Stackwright, also under the name of a stack that is ours. A
 * stack whose first release is still being applied is ours, so its jobs are found as soon as their
 * containers exist. Of their labels on jobs they have those of their authors.
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
  const called: FoundJob[] = [];
  for (const each of jobs) {
    if (await isAnothers(each)) continue;
    const labels = await authors.labelsOf(each.key, each.container);
    if (labels !== undefined) called.push({ ...each, container: { ...each.container, labels } });
  }
  return called;
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
  const awaited: ObservedContainer[] = [];
  for (const each of running) {
    if (isJobRun(each) || await authors.labelsOf(key, each) !== undefined) awaited.push(each);
  }
  return awaited;
}
