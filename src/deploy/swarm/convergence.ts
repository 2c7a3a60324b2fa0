import { isDeepStrictEqual } from "node:util";
import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import { asRecord, type JsonRecord } from "../../docker/json.ts";
import { type EngineVerdict, LABELS } from "../../model/mod.ts";
import {
  currentTasks,
  hasEnded,
  isWanted,
  shortName,
  tasksByService,
  wantedTasks,
} from "./observed_services.ts";

/** State of one service in one observation. */
export type Convergence =
  /** Enough tasks, which are named here, are ready. */
  | { readonly kind: "good"; readonly tasks: readonly SwarmTask[] }
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** State that a service must reach. */
export interface Wanted {
  readonly waitsForEnd: boolean;
  /** Digest of a service that is not posted: the engine's own rollback to it is no failure. */
  readonly digest?: string;
}

/** Failed tasks in one slot after which the service has failed. */
const MOST_FAILURES = 5;

/** Judges a service by its tasks: the engine also reports success for one that crashes later. */
export function convergence(
  service: SwarmService,
  all: readonly SwarmTask[],
  { waitsForEnd, digest }: Wanted,
): Convergence {
  const isBack = digest !== undefined && service.labels[LABELS.digest] === digest;
  if (isBack && service.update?.state === "rollback_started") {
    return { kind: "waiting", why: "the engine takes its update back" };
  }
  const isDone = isBack && service.update?.state === "rollback_completed";
  const isNow = templateCheck(service);
  const stopped = isDone ? undefined : failedUpdate(service, all, isNow);
  if (stopped !== undefined) return { kind: "failed", why: stopped };
  const current = currentTasks(service, all);
  const hopeless = hopelessTask(service, { current, all, isNow });
  if (hopeless !== undefined) return { kind: "failed", why: hopeless };
  const isJob = service.mode.kind.endsWith("-job");
  const isNew = (task: SwarmTask) => isJob || isNow(task);
  const good = current.filter((each) =>
    isNew(each) && (each.state === "complete" || (each.state === "running" && !waitsForEnd))
  );
  const wanted = service.mode.kind === "global"
    ? current.filter(isWanted).length
    : service.mode.kind === "global-job"
    ? current.length
    : wantedTasks(service);
  if (good.length >= wanted && (wanted > 0 || service.mode.kind !== "global-job")) {
    return { kind: "good", tasks: good };
  }
  if (wanted === 0) return { kind: "waiting", why: "no node takes a task of it" };
  const last = newest(all.filter((each) => each.serviceId === service.id && hasEnded(each.state)));
  const why = current.map(({ error }) => error).find((each) => each !== "") ??
    (last !== undefined && isNow(last) ? `the last one ended: ${wordsOf(last)}` : undefined);
  const count = `${good.length} of ${wanted} tasks ${waitsForEnd ? "ended" : "run"}`;
  return { kind: "waiting", why: why === undefined ? count : `${count} (${why})` };
}

/** A swarm's verdicts on failed updates, with the errors of their tasks; none while they are under way. */
export function engineVerdicts(
  stack: string,
  services: readonly SwarmService[],
  all: readonly SwarmTask[],
): EngineVerdict[] {
  const tasksOf = tasksByService(all);
  return services.flatMap((service) => {
    const state = VERDICTS.find((each) => each === service.update?.state);
    if (state === undefined) return [];
    const began = new Date(service.update?.startedAt ?? 0);
    const tasks = tasksOf(service);
    const failed = tasks.filter((each) => each.createdAt >= began && isFailed(each));
    return [{
      service: shortName(stack, service.name),
      id: [service.id, state, service.update?.startedAt ?? service.version].join(" "),
      state,
      digest: service.labels[LABELS.digest],
      why: failedUpdate(service, tasks) ?? "",
      tasksFailed: failed.length > 0,
    }];
  });
}

const VERDICTS = ["paused", "rollback_paused", "rollback_completed"] as const;

function newest(tasks: readonly SwarmTask[]): SwarmTask | undefined {
  return tasks.reduce<SwarmTask | undefined>(
    (a, b) => a === undefined || b.createdAt > a.createdAt ? b : a,
    undefined,
  );
}

/** The engine's message about a failed update, with the task's error. */
function failedUpdate(
  service: SwarmService,
  all: readonly SwarmTask[],
  isNow: TemplateCheck = templateCheck(service),
): string | undefined {
  const { update } = service;
  if (update === undefined) return undefined;
  if (update.state !== "paused" && !update.state.startsWith("rollback_")) return undefined;
  const named = /termination of task (\w+)/.exec(update.message)?.[1];
  // A finished rollback no longer names the task that failed.
  const old = () =>
    newest(all.filter((each) => each.serviceId === service.id && isFailed(each) && !isNow(each)));
  const task = named === undefined ? old() : all.find(({ id }) => id === named);
  const error = task?.error ?? "";
  return error === "" ? update.message : `${update.message}: ${error}`;
}

/** Why a slot has no hope of a working task; `undefined` without such a slot. */
function hopelessTask(
  service: SwarmService,
  { current, all, isNow }: {
    readonly current: readonly SwarmTask[];
    readonly all: readonly SwarmTask[];
    readonly isNow: TemplateCheck;
  },
): string | undefined {
  const failed = all.filter((each) => each.serviceId === service.id && isFailed(each));
  const byPlace = Map.groupBy(failed, placeOf);
  for (const task of current) {
    const before = (byPlace.get(placeOf(task)) ?? []).filter(isNow);
    const last = newest(before);
    if (last === undefined) continue;
    if (!isNow(task) && !service.mode.kind.endsWith("-job")) continue;
    if (before.length >= MOST_FAILURES) {
      return `${before.length} tasks failed, the last with: ${wordsOf(last)}`;
    }
    if (isFailed(task) && restartsNever(service)) return `its task failed: ${wordsOf(last)}`;
  }
  return undefined;
}

function placeOf({ slot, nodeId, iteration }: SwarmTask): string {
  return `${slot} ${iteration} ${nodeId}`;
}

function wordsOf({ error, exitCode }: SwarmTask): string {
  return error === "" ? `exit code ${exitCode ?? 0}` : error;
}

function isFailed({ state }: SwarmTask): boolean {
  return hasEnded(state) && state !== "complete";
}

function restartsNever({ spec }: SwarmService): boolean {
  return asRecord(asRecord(spec["TaskTemplate"])["RestartPolicy"])["Condition"] === "none";
}

/** Whether a task was made from its service's current template. */
type TemplateCheck = (task: SwarmTask) => boolean;

/**
 * Check for tasks of a service, which compares each only once: authors make thousands, of any length.
 * Ignores placement, which replaces no tasks, and networks, which the engine names differently.
 */
function templateCheck({ spec: { TaskTemplate } }: SwarmService): TemplateCheck {
  const wanted = essence(asRecord(TaskTemplate));
  const known = new Map<SwarmTask, boolean>();
  return (task) =>
    known.getOrInsertComputed(task, ({ spec }) => isDeepStrictEqual(essence(spec), wanted));
}

function essence(task: JsonRecord): JsonRecord {
  const { ContainerSpec, Resources, RestartPolicy, LogDriver, ForceUpdate = 0 } = task;
  return { ContainerSpec, Resources, RestartPolicy, LogDriver, ForceUpdate };
}
