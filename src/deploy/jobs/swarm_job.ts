import { asList, asRecord, asText, type JsonRecord } from "../../docker/json.ts";
import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import {
  errors,
  JOB_INFIX,
  LABELS,
  listOf,
  parseJson,
  recordOf,
  type StackOwner,
} from "../../model/mod.ts";
import type { KnownMount } from "../mounts_inside.ts";
import { currentTasks, isWanted } from "../swarm/observed_services.ts";
import { withoutUpdates } from "../swarm/stack_actions.ts";
import { labelsOfRun } from "./execution.ts";
import { EVERY_NODE, LAST_RUN } from "../swarm/stack_parts.ts";

/** A service that is stopped for a run, and its number of tasks afterwards. */
export interface StoppedService {
  readonly id: string;
  readonly replicas: number;
}

interface SwarmExecution {
  readonly runId: string;
  readonly stops: readonly StoppedService[];
  readonly owner?: StackOwner | undefined;
  /** Number of tasks, run at once, that must end well; unless the job runs on every node. */
  readonly completions: number;
}

/** The mounts of a service's tasks. */
export function mountsOf({ spec }: Pick<SwarmService, "spec">): KnownMount[] {
  const container = asRecord(asRecord(spec["TaskTemplate"])["ContainerSpec"]);
  return asList(container["Mounts"]).map((each) => {
    const { Type, Source, VolumeOptions } = asRecord(each);
    const [kind, source] = [asText(Type), asText(Source)];
    if (kind !== "volume") return { kind, name: "", source };
    const { Options } = asRecord(asRecord(VolumeOptions)["DriverConfig"]);
    return { kind, name: source, source: asText(asRecord(Options)["device"]) };
  });
}

/** Longest name of a service that the engine accepts. */
const LONGEST_NAME = 63;
/** Digits at the end of the name of a run, which make it unique. */
const DIGITS = 12;
/** Constraint that no node meets. */
const NOWHERE = "node.id==stackwright-nowhere";

/**
 * A service for one run of a job: like the job's, but ending, and without its network names and
 * ports. Made {@link idle} first, it has no task yet.
 */
export function executionBody(
  { name, spec }: SwarmService,
  execution: SwarmExecution,
): JsonRecord {
  const labels = asRecord(spec["Labels"]);
  const template = asRecord(spec["TaskTemplate"]);
  const networks = asList(template["Networks"]).map((each) => {
    const { Aliases: _names, ...rest } = asRecord(each);
    return rest;
  });
  const { EndpointSpec: _ports, Networks: _old, ...rest } = withoutUpdates(spec);
  const end = `${JOB_INFIX}${execution.runId.slice(-DIGITS)}`;
  return {
    ...rest,
    Name: `${name.slice(0, LONGEST_NAME - end.length)}${end}`,
    Labels: {
      ...labels,
      [LABELS.jobOf]: name,
      ...labelsOfRun(execution),
    },
    TaskTemplate: {
      ...template,
      RestartPolicy: { Condition: "none" },
      ...(networks.length === 0 ? {} : { Networks: networks }),
    },
    Mode: isOnEveryNode(labels, spec) ? { GlobalJob: {} } : ending(execution.completions),
  };
}

/** The same service without tasks: none is wanted, or no node may run one. */
export function idle(body: JsonRecord): JsonRecord {
  if (asRecord(body["Mode"])["GlobalJob"] === undefined) {
    return { ...body, Mode: ending(0) };
  }
  const template = asRecord(body["TaskTemplate"]);
  const placement = asRecord(template["Placement"]);
  const Constraints = [...asList(placement["Constraints"]), NOWHERE];
  return { ...body, TaskTemplate: { ...template, Placement: { ...placement, Constraints } } };
}

/** A body that {@link idle} made, with its tasks. */
export function active(
  body: JsonRecord,
  { completions }: Pick<SwarmExecution, "completions">,
): JsonRecord {
  if (asRecord(body["Mode"])["GlobalJob"] === undefined) {
    return { ...body, Mode: ending(completions) };
  }
  const template = asRecord(body["TaskTemplate"]);
  const placement = asRecord(template["Placement"]);
  const Constraints = asList(placement["Constraints"]).filter((each) => each !== NOWHERE);
  return { ...body, TaskTemplate: { ...template, Placement: { ...placement, Constraints } } };
}

function ending(tasks: number): JsonRecord {
  return { ReplicatedJob: { MaxConcurrent: tasks, TotalCompletions: tasks } };
}

/** Whether a service has no task because it is {@link idle}. */
export function isIdle({ spec, mode }: SwarmService): boolean {
  if (mode.kind === "replicated-job") return mode.completions === 0;
  return isNowhere(spec);
}

function isNowhere(body: JsonRecord): boolean {
  const placement = asRecord(asRecord(body["TaskTemplate"])["Placement"]);
  return asList(placement["Constraints"]).includes(NOWHERE);
}

/** Whether a body gives its service tasks: one that is stopped, or {@link idle}, has none. */
export function getsTasks(body: JsonRecord): boolean {
  const { Replicated, ReplicatedJob } = asRecord(body["Mode"]);
  const tasks = asRecord(Replicated)["Replicas"] ?? asRecord(ReplicatedJob)["TotalCompletions"];
  return tasks !== 0 && !isNowhere(body);
}

/** The body that runs a job's own service again. Throws `unsupported` if we did not deploy it as a job. */
export function rerunBody({ name, spec, mode }: SwarmService, at: Date): JsonRecord {
  const labels = asRecord(spec["Labels"]);
  const tasks = Number(labels[LABELS.jobTasks]);
  if (mode.kind !== "replicated-job" || !Number.isSafeInteger(tasks)) {
    throw errors.unsupported(
      `service ${name} cannot be run again: Stackwright did not deploy it as a job that restarts; ` +
        "execution_mode one_off runs it",
    );
  }
  return {
    ...withoutUpdates(spec),
    Labels: { ...labels, [LAST_RUN]: at.toISOString() },
    Mode: ending(tasks),
  };
}

/** The services to start again after a run, from its label. */
export function stopsOfService(labels: Readonly<Record<string, string>>): StoppedService[] {
  return listOf(parseJson(labels[LABELS.jobStops] ?? "")).map(recordOf)
    .flatMap(({ id, replicas }) =>
      typeof id === "string" && typeof replicas === "number" ? [{ id, replicas }] : []
    );
}

type SwarmRunState =
  | { readonly kind: "running"; readonly why: string }
  /** `why` is the engine's reason for a task that ended without an exit code. */
  | { readonly kind: "ended"; readonly code: number; readonly why: string };

/** Judges a run by the tasks of a job's last iteration: it ends when all of them ended. */
export function runState(service: SwarmService, all: readonly SwarmTask[]): SwarmRunState {
  const tasks = currentTasks(service, all);
  const wanted = service.mode.kind === "replicated-job" ? service.mode.completions : 1;
  const active = tasks.filter(({ state }) => !ENDED.includes(state));
  if (tasks.length < wanted || active.length > 0) {
    const why = active.map(({ error }) => error).find((each) => each !== "") ?? "";
    return { kind: "running", why };
  }
  const bad = tasks.filter(({ state }) => state !== "complete");
  const [first] = bad;
  if (first === undefined) return { kind: "ended", code: 0, why: "" };
  const coded = bad.find(({ exitCode }) => (exitCode ?? 0) !== 0);
  if (coded !== undefined) return { kind: "ended", code: coded.exitCode ?? 1, why: "" };
  const why = first.error === "" ? `its task is ${first.state}` : first.error;
  return { kind: "ended", code: 0, why };
}

/** Final states of a task. */
const ENDED = ["complete", "failed", "rejected", "shutdown", "orphaned", "remove"];

/** Whether a job's own service has a task that must run and has not ended. */
export function hasActiveTask(service: SwarmService, all: readonly SwarmTask[]): boolean {
  return currentTasks(service, all).some((each) => isWanted(each) && !ENDED.includes(each.state));
}

function isOnEveryNode(labels: JsonRecord, spec: JsonRecord): boolean {
  const mode = asRecord(spec["Mode"]);
  return labels[LABELS.jobTasks] === EVERY_NODE || mode["Global"] !== undefined ||
    mode["GlobalJob"] !== undefined;
}
