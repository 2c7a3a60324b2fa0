import { labelsOf, servicesOf } from "../../compose/mod.ts";
import {
  isJobService,
  LABELS,
  type ObservedContainer,
  type Release,
  type StackKey,
} from "../../model/mod.ts";
import { isExecution } from "./find_jobs.ts";
import type { FoundJob } from "./found_job.ts";

/** Newest releases that are looked at: one that is being deployed, and those it may go back to. */
const MOST_RELEASES = 5;

type Recorded = Pick<Release, "services"> & { readonly status: string };

/** Port for what is recorded of a stack's releases, as far as it tells what their author wrote. */
interface RecordedJobs<R extends Recorded> {
  current(key: StackKey): R | undefined;
  /** The newest releases of a stack, newest first. */
  history(key: StackKey, count: number): readonly R[];
  /** The same release with its model. */
  open(release: R): Pick<Release, "model">;
}

/**
 * Whether it is their author who calls a service a job. A container has the labels of its image, too,
 * and who makes an image must not have services run at times, stop those of others or keep deployments
 * waiting. The recorded release that a container belongs to knows its author's labels alone; where none
 * is recorded the container's are believed.
 */
export function isCalledJob<R extends Recorded>(
  ledger: RecordedJobs<R>,
  key: StackKey,
  container: Pick<ObservedContainer, "service" | "labels">,
): boolean {
  const { labels, service: name } = container;
  const digest = labels[LABELS.digest];
  if (digest === undefined || !isJobService(labels)) return true;
  const made = (release: R | undefined) => {
    const found = release?.services.find((each) => each.name === name && each.digest === digest);
    return release && found && { release, autostart: found.expectation.autostart };
  };
  // What is being deployed is recorded before its containers are made.
  const own = made(ledger.current(key)) ??
    ledger.history(key, MOST_RELEASES).map(made).find((each) => each !== undefined);
  // Those of jobs are never true; releases of before there were jobs say true of all.
  if (own?.autostart !== true) return true;
  return isJobService(labelsOf(servicesOf(ledger.open(own.release).model)[name] ?? {}));
}

/**
 * The jobs of these that their authors call so; without those of stacks that another Stackwright on
 * the engine deployed, which runs them itself. One whose first release is being deployed is ours: who
 * looks when its containers are made need not be told again when it has become good.
 */
export function calledJobs<R extends Recorded>(
  ledger: RecordedJobs<R>,
  jobs: readonly FoundJob[],
): FoundJob[] {
  const isAnothers = ({ key, container }: FoundJob) =>
    container.labels[LABELS.manager] !== undefined && ledger.current(key) === undefined &&
    ledger.history(key, 1)[0]?.status !== "applying";
  return jobs.filter((each) => !isAnothers(each) && isCalledJob(ledger, each.key, each.container));
}

/** The ones among these for which a deployment waits: runs of jobs, and services that are called jobs. */
export function awaitedJobs<R extends Recorded>(
  ledger: RecordedJobs<R>,
  key: StackKey,
  running: readonly ObservedContainer[],
): ObservedContainer[] {
  return running.filter((each) => isExecution(each) || isCalledJob(ledger, key, each));
}
