import type { Engine } from "../../docker/engine.ts";
import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  COMPOSE_LABELS,
  LABELS,
  type ObservedContainer,
} from "../../model/mod.ts";
import {
  currentTasks,
  imageOf,
  isRunOfJob,
  shortName,
  taskLabels,
  tasksByService,
  wantedTasks,
} from "../swarm/observed_services.ts";
import { STACK_LABELS } from "../swarm/stack_parts.ts";
import { tasksOfAll } from "../observe.ts";
import type { FoundJob } from "./found_job.ts";
import { hasActiveTask } from "./swarm_job.ts";

/** Every service of a context's swarm, or of one stack there, with a job label, sorted by name. */
export async function findSwarmJobs(
  { swarm }: Pick<Engine, "swarm">,
  { context, stack }: { readonly context: string; readonly stack?: string | undefined },
  signal: AbortSignal,
): Promise<FoundJob[]> {
  const own = stack === undefined ? {} : { [STACK_LABELS.namespace]: stack };
  const all = await swarm.services(own, signal);
  const jobs = all.filter((each) => !isRunOfJob(each) && isCalled(each));
  const runs = Map.groupBy(all.filter(isRunOfJob), ({ labels }) => labels[LABELS.jobOf] ?? "");
  const known = new Set(jobs.map(({ name }) => name));
  // Of a job whose service is gone, its runs are left.
  const left = [...runs].flatMap(([name, [run]]) => run && !known.has(name) ? run : []);
  const found = [...jobs, ...left];
  if (found.length === 0) return [];
  // Tasks of jobs only: those of all stacks may be too many to read.
  const label = { [LABELS.jobTasks]: undefined };
  const stackOf = ({ labels }: SwarmService) => labels[STACK_LABELS.namespace] ?? [];
  const tasksOf = tasksByService(
    stack === undefined
      ? await tasksOfAll({ swarm }, [...new Set(found.flatMap(stackOf))], label, signal)
      : await swarm.tasks({ ...own, ...label }, signal),
  );
  return found.map((each) => {
    const stack = each.labels[STACK_LABELS.namespace] ?? "";
    const name = isRunOfJob(each) ? each.labels[LABELS.jobOf] ?? "" : each.name;
    const service = shortName(stack, name);
    return {
      key: { context, name: stack },
      service,
      container: { ...asContainer(each, tasksOf(each)), service },
      scale: isRunOfJob(each) ? 0 : 1,
      executions: (runs.get(name) ?? []).map((run) => asContainer(run, tasksOf(run))),
      swarm: each.id,
    };
  }).sort((a, b) => a.container.name < b.container.name ? -1 : 1);
}

/**
 * Runs of a stack's jobs that are under way, as containers: services that were made for a run, and
 * services of jobs with an active task.
 */
export async function activeSwarmJobs(
  { swarm }: Pick<Engine, "swarm">,
  stack: string,
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  const label = { [STACK_LABELS.namespace]: stack };
  const jobs = (await swarm.services(label, signal))
    .filter((each) => isRunOfJob(each) || isCalled(each));
  if (jobs.length === 0) return [];
  const tasksOf = tasksByService(await swarm.tasks(label, signal));
  return jobs.filter((each) => isRunOfJob(each) || hasActiveTask(each, tasksOf(each)))
    .map((each) => ({ ...asContainer(each, tasksOf(each)), state: "running" as const }));
}

function isCalled(service: SwarmService): boolean {
  return behaviourLabel(taskLabels(service), BEHAVIOUR_LABELS.jobEnabled) !== undefined;
}

function exitCodeOf({ state, exitCode }: SwarmTask): number {
  return state === "complete" ? 0 : exitCode || 1;
}

/** The service of a job as a container, with the state of the newest task of its last run. */
function asContainer(service: SwarmService, tasks: readonly SwarmTask[]): ObservedContainer {
  const [task] = currentTasks(service, tasks).toSorted((a, b) =>
    b.createdAt.getTime() - a.createdAt.getTime()
  );
  // For a service that Stackwright did not deploy as a job, the wanted number of tasks decides.
  const isActive = service.labels[LABELS.jobTasks] === undefined
    ? wantedTasks(service) > 0
    : hasActiveTask(service, tasks);
  return {
    id: service.id,
    name: service.name,
    service: shortName(service.labels[STACK_LABELS.namespace] ?? "", service.name),
    state: isActive ? "running" : task === undefined ? "created" : "exited",
    health: "none",
    exitCode: isActive || task === undefined ? undefined : exitCodeOf(task),
    imageId: imageOf(service),
    labels: {
      ...taskLabels(service),
      ...service.labels,
      ...(isRunOfJob(service) ? { [COMPOSE_LABELS.oneOff]: "True" } : {}),
    },
  };
}
