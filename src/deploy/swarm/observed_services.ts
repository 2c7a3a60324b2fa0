import { asRecord, asText, asTexts, type JsonRecord } from "../../docker/json.ts";
import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import {
  type ContainerHealth,
  type ContainerState,
  errors,
  LABELS,
  type ObservedContainer,
  type ObservedStack,
} from "../../model/mod.ts";

/**
 * The services of a stack in the form that plans expect: one container for each wanted task, with
 * the service's labels. So a plan finds missing, surplus and changed containers as on a single
 * host.
 */
export function observedServices(
  stack: string,
  all: readonly SwarmService[],
  tasks: readonly SwarmTask[],
): ObservedStack {
  const services = all.filter((each) => !isRunOfJob(each));
  const tasksOf = tasksByService(tasks);
  const containers = services.flatMap((service) => {
    const places = currentTasks(service, tasksOf(service));
    return Array.from({ length: placesOf(service) }, (_, index) => {
      const task = places[index];
      return {
        id: task?.id ?? `${service.id}.${index + 1}`,
        name: `${service.name}.${index + 1}`,
        service: shortName(stack, service.name),
        ...stateOf(service, task),
        imageId: imageOf(service),
        labels: service.labels,
      };
    });
  });
  const idle = services.filter((each) => placesOf(each) === 0)
    .map(({ name, labels }) => ({ service: shortName(stack, name), labels }));
  return { containers, idle };
}

/** Whether a service was made for one run of a job. Its name does not tell: anybody may use it. */
export function isRunOfJob({ labels }: Pick<SwarmService, "labels">): boolean {
  return labels[LABELS.jobRun] !== undefined;
}

/** Number of wanted tasks; for a scheduled job that of a run, even while none is running. */
function placesOf(service: SwarmService): number {
  const tasks = service.labels[LABELS.jobTasks];
  return tasks === undefined ? wantedTasks(service) : Number(tasks) || 1;
}

/** Most tasks that all services may want: a foreign engine may report any number. */
const MOST_TASKS = 50_000;

/** Refuses services that want too many tasks to examine. Throws `engine_refused`. */
export function requireFewTasks(services: readonly SwarmService[]): void {
  const wanted = services.reduce((sum, each) => sum + Math.max(0, placesOf(each)), 0);
  if (wanted <= MOST_TASKS) return;
  throw errors.engine_refused(
    `services of the swarm want ${wanted} tasks, says its engine; the most that are looked at is ${MOST_TASKS}`,
  );
}

/** Name of a service in the compose file. */
export function shortName(stack: string, name: string): string {
  return name.startsWith(`${stack}_`) ? name.slice(stack.length + 1) : name;
}

/** Number of tasks that a service wants; a global one counts as one. */
export function wantedTasks({ mode }: SwarmService): number {
  if (mode.kind === "replicated") return mode.replicas;
  return mode.kind === "replicated-job" ? mode.completions : 1;
}

/** What a service's tasks are made from. */
export function containerSpec(spec: JsonRecord): JsonRecord {
  return asRecord(asRecord(spec["TaskTemplate"])["ContainerSpec"]);
}

/** The image in a service's template, with the digest if it has one. */
export function imageOf({ spec }: Pick<SwarmService, "spec">): string {
  return asText(containerSpec(spec)["Image"]);
}

/** The labels of a service's containers, which include its author's. */
export function taskLabels({ spec }: SwarmService): Record<string, string> {
  return asTexts(containerSpec(spec)["Labels"]);
}

/** Makes a function that finds a service's tasks: filtering all for each would take minutes. */
export function tasksByService(
  tasks: readonly SwarmTask[],
): (service: Pick<SwarmService, "id">) => readonly SwarmTask[] {
  const own = Map.groupBy(tasks, ({ serviceId }) => serviceId);
  return ({ id }) => own.get(id) ?? [];
}

/** The newest task of each slot of a service; for a job, of its last run. */
export function currentTasks(service: SwarmService, tasks: readonly SwarmTask[]): SwarmTask[] {
  const own = tasks.filter((each) =>
    each.serviceId === service.id && each.iteration === service.iteration
  );
  const places = Map.groupBy(own, (each) => each.slot > 0 ? `${each.slot}` : each.nodeId);
  const newest = [...places.values()].map((each) => each.reduce((a, b) => isLater(b, a) ? b : a));
  const isJob = service.mode.kind.endsWith("-job");
  // A slot that is no longer wanted counts only if its task ended by itself.
  return newest.filter((each) => isJob || isWanted(each) || hasEnded(each.state))
    .sort((a, b) => Number(isWanted(b)) - Number(isWanted(a)) || a.slot - b.slot);
}

function isLater(a: SwarmTask, b: SwarmTask): boolean {
  if (isWanted(a) !== isWanted(b)) return isWanted(a);
  return a.createdAt.getTime() >= b.createdAt.getTime();
}

/** Whether the swarm wants a task to exist. */
export function isWanted({ desired }: SwarmTask): boolean {
  return desired === "running" || desired === "ready" || desired === "complete";
}

/** Whether a task ended by itself. */
export function hasEnded(state: string): boolean {
  return state === "complete" || state === "failed" || state === "rejected";
}

/** Whether a task still holds resources of its node. */
export function holdsSomething({ state }: SwarmTask): boolean {
  return ["assigned", "accepted", "preparing", "ready", "starting", "running"].includes(state);
}

type JudgedTask = Pick<ObservedContainer, "state" | "health" | "exitCode">;

function stateOf({ mode, labels }: SwarmService, task: SwarmTask | undefined): JudgedTask {
  const is = (state: ContainerState, health: ContainerHealth, exitCode?: number) => ({
    state,
    health,
    exitCode,
  });
  const isScheduled = labels[LABELS.jobTasks] !== undefined;
  if (task === undefined) return isScheduled ? is("created", "none") : is("running", "starting");
  if (task.state === "running") return is("running", "none");
  if (task.state === "complete") return is("exited", "none", 0);
  if (!hasEnded(task.state)) return is("running", "starting");
  // A failed scheduled job counts as ended: a plan would otherwise run it again unasked.
  if (isScheduled) return is("exited", "none", task.exitCode || 1);
  if (mode.kind.endsWith("-job")) return is("running", "unhealthy");
  return isWanted(task)
    ? is("restarting", "none", task.exitCode)
    : is("exited", "none", task.exitCode || 1);
}
