import { isOneOff } from "../docker/containers.ts";
import type { Engine } from "../docker/engine.ts";
import { activeSwarmJobs } from "./jobs/find_swarm_jobs.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  COMPOSE_LABELS,
  isJobService,
  JOB_INFIX,
  MIGRATION_LABEL_PREFIX,
  type ObservedContainer,
  type StackKey,
} from "../model/mod.ts";

/**
 * The containers of a stack that run a job which a deployment waits for: runs of jobs, and those of
 * scheduled jobs. `byDefault` applies to jobs without a label on whether deployments wait for them.
 */
export async function runningJobs(
  engine: Engine,
  key: StackKey,
  { byDefault, isStack }: { readonly byDefault: boolean; readonly isStack: boolean },
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  const all = isStack
    ? await activeSwarmJobs(engine, key.name, signal)
    : await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  return all.filter((each) => isRunning(each) && isJob(each) && isAwaited(each, byDefault));
}

function isRunning({ state }: ObservedContainer): boolean {
  return state === "running" || state === "restarting" || state === "paused";
}

function isJob(container: ObservedContainer): boolean {
  return isJobRun(container) || isJobService(container.labels);
}

/**
 * Whether a one-off container is a run of a job by its name, whoever made it, or one that doco-cd
 * started and may have left running. What a build makes has such labels maybe, and a name of the
 * engine's.
 */
export function isJobRun(container: Pick<ObservedContainer, "name" | "labels">): boolean {
  const { name, labels } = container;
  if (!isOneOff(container)) return false;
  const isPeers = /[-_]run[-_][0-9a-f]+$/.test(name) &&
    truth(labels[`${MIGRATION_LABEL_PREFIX}job.ephemeral`]) === true;
  return isPeers || name.includes(JOB_INFIX);
}

function isAwaited({ labels }: ObservedContainer, byDefault: boolean): boolean {
  return truth(behaviourLabel(labels, BEHAVIOUR_LABELS.jobWaitRunning)) ?? byDefault;
}

function truth(text: string | undefined): boolean | undefined {
  const word = text?.trim().toLowerCase() ?? "";
  if (["1", "t", "true"].includes(word)) return true;
  return ["0", "f", "false"].includes(word) ? false : undefined;
}
