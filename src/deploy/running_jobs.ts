import { isOneOff } from "../docker/containers.ts";
import type { Engine } from "../docker/engine.ts";
import { activeSwarmJobs } from "./jobs/find_swarm_jobs.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  COMPOSE_LABELS,
  isJobService,
  JOB_INFIX,
  type ObservedContainer,
  type StackKey,
} from "../model/mod.ts";

/**
 * The containers of a stack that run a job which a deployment waits for: one-off containers with
 * the infix in their name, and those of scheduled jobs. `byDefault` applies to jobs without a label
 * on whether deployments wait for them.
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
  const isRun = isOneOff(container) && container.name.includes(JOB_INFIX);
  return isRun || isJobService(container.labels);
}

function isAwaited({ labels }: ObservedContainer, byDefault: boolean): boolean {
  return truth(behaviourLabel(labels, BEHAVIOUR_LABELS.jobWaitRunning)) ?? byDefault;
}

function truth(text: string | undefined): boolean | undefined {
  const word = text?.trim().toLowerCase() ?? "";
  if (["1", "t", "true"].includes(word)) return true;
  return ["0", "f", "false"].includes(word) ? false : undefined;
}
