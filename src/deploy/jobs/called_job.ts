import { labelsOf, servicesOf } from "../../compose/mod.ts";
import {
  isJobService,
  LABELS,
  type ObservedContainer,
  type Release,
  type StackKey,
} from "../../model/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { isExecution } from "./find_jobs.ts";
import type { FoundJob } from "./found_job.ts";

/** Newest releases that are looked at: one that is being deployed, and those it may go back to. */
const MOST_RELEASES = 5;

interface Recorded {
  readonly id: string;
  readonly status: string;
}

/** Port for what is recorded of a stack's releases, as far as it tells what their author wrote. */
interface RecordedJobs<R extends Recorded> {
  current(key: StackKey): R | undefined;
  /** The newest releases of a stack, newest first. */
  history(key: StackKey, count: number): readonly R[];
  services(release: R): Release["services"];
  /** The same release with its model. */
  open(release: R): Pick<Release, "model">;
}

/** What the author of one release says of a service: its digest, and whether it is a job. */
type Said = ReadonlyMap<string, { readonly digest: string; readonly autostart: boolean }>;

/**
 * Tells whether it is their author who calls services jobs. A container has the labels of its image, too,
 * and who makes an image must not have services run at times, stop those of others or keep deployments
 * waiting. The recorded release that a container belongs to knows its author's labels alone; where none
 * is recorded the container's are believed.
 *
 * Each release is read once, with a pause after it: a stack may have any number of jobs.
 */
class AuthorsJobs<R extends Recorded> {
  readonly #ledger: RecordedJobs<R>;
  readonly #pauses = createPauses(1);
  readonly #said = new Map<string, Said>();
  readonly #called = new Map<string, ReadonlySet<string>>();

  constructor(ledger: RecordedJobs<R>) {
    this.#ledger = ledger;
  }

  /** Whether a container is one of a service that its author calls a job. */
  async isJob(
    key: StackKey,
    { labels, service }: Pick<ObservedContainer, "service" | "labels">,
  ): Promise<boolean> {
    const digest = labels[LABELS.digest];
    if (digest === undefined || !isJobService(labels)) return true;
    const current = this.#ledger.current(key);
    // What is being deployed is recorded before its containers are made.
    for (const each of [...current ? [current] : [], ...this.#ledger.history(key, MOST_RELEASES)]) {
      const found = (await this.#saidBy(each)).get(service);
      if (found?.digest !== digest) continue;
      // Those of jobs are never true; releases of before there were jobs say true of all.
      return !found.autostart || (await this.#calledBy(each)).has(service);
    }
    return true;
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

  async #once<T>(known: Map<string, T>, { id }: R, read: () => T): Promise<T> {
    const before = known.get(id);
    if (before !== undefined) return before;
    const found = read();
    known.set(id, found);
    await this.#pauses.after(1);
    return found;
  }
}

/**
 * The jobs of these that their authors call so; without those of stacks that another Stackwright on
 * the engine deployed, which runs them itself. One whose first release is being deployed is ours: who
 * looks when its containers are made need not be told again when it has become good.
 */
export async function calledJobs<R extends Recorded>(
  ledger: RecordedJobs<R>,
  jobs: readonly FoundJob[],
): Promise<FoundJob[]> {
  const isAnothers = ({ key, container }: FoundJob) =>
    container.labels[LABELS.manager] !== undefined && ledger.current(key) === undefined &&
    ledger.history(key, 1)[0]?.status !== "applying";
  const authors = new AuthorsJobs(ledger);
  return await filtered(
    jobs,
    async (each) => !isAnothers(each) && await authors.isJob(each.key, each.container),
  );
}

/** The ones among these for which a deployment waits: runs of jobs, and services that are called jobs. */
export async function awaitedJobs<R extends Recorded>(
  ledger: RecordedJobs<R>,
  key: StackKey,
  running: readonly ObservedContainer[],
): Promise<ObservedContainer[]> {
  const authors = new AuthorsJobs(ledger);
  return await filtered(
    running,
    async (each) => isExecution(each) || await authors.isJob(key, each),
  );
}

async function filtered<T>(
  values: readonly T[],
  isWanted: (value: T) => Promise<boolean>,
): Promise<T[]> {
  const wanted: T[] = [];
  for (const value of values) if (await isWanted(value)) wanted.push(value);
  return wanted;
}
