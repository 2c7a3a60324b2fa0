import type { Engine } from "../../docker/engine.ts";
import {
  COMPOSE_LABELS,
  isSameOwner,
  LABELS,
  type ObservedContainer,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { readMark } from "../mark.ts";
import { isJobRun } from "../running_jobs.ts";
import { activeSwarmJobs } from "./find_swarm_jobs.ts";

/** The owner of a stack, which tells runs of its jobs from others'. */
type Owner = StackOwner & { readonly adopted: boolean };

/**
 * Whether something runs a job of another source or branch than the stack's owner, to whom a person
 * handed it over: the process that began it has ended, and left it under way.
 */
export function isFormerRun(
  container: Pick<ObservedContainer, "name" | "labels">,
  owner: Owner | undefined,
): boolean {
  const { maker, configuration: source } = readMark(container.labels);
  const { [LABELS.jobReference]: reference = "" } = container.labels;
  return owner?.adopted === true && isJobRun(container) && maker === "stackwright" &&
    source !== undefined && !isSameOwner({ source, reference }, owner);
}

/**
 * Ends runs of a stack's jobs that are {@link isFormerRun a former owner's}: they would go on with the
 * owner's data. Returns their names, sorted. May be called twice.
 */
export async function endFormerRuns(
  engine: Pick<Engine, "listContainers" | "removeContainer" | "swarm">,
  { key, isStack, owner }: {
    readonly key: StackKey;
    readonly isStack: boolean;
    readonly owner: Owner | undefined;
  },
  signal: AbortSignal,
): Promise<string[]> {
  if (owner?.adopted !== true) return [];
  const all = isStack
    ? await activeSwarmJobs(engine, key.name, signal)
    : await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  const former = all.filter((each) => isFormerRun(each, owner));
  for (const { id } of former) {
    if (isStack) await engine.swarm.removeService(id, signal);
    else await engine.removeContainer(id, { force: true, volumes: true }, signal);
  }
  return former.map(({ name }) => name).sort();
}
