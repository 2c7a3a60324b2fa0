import { asNumber, asRecord, type JsonRecord } from "../../docker/json.ts";
import type { SwarmService } from "../../docker/swarm.ts";
import { isJobService } from "../../model/mod.ts";
import { taskLabels } from "./observed_services.ts";
import { LAST_RUN } from "./stack_parts.ts";

/** Actions on the services of a stack. */
export const STACK_ACTIONS = ["scale", "restart", "run"] as const;

/** One member of {@link STACK_ACTIONS}. */
export type StackAction = (typeof STACK_ACTIONS)[number];

/** An action with its arguments. */
export type StackOrder =
  | { readonly action: "scale"; readonly replicas: number }
  | { readonly action: "restart" }
  /** `at` becomes a label of the service: its change makes the engine run the job again. */
  | { readonly action: "run"; readonly at: Date };

/** The changed body of a service, or the reason why the action does not apply to it. */
type StackChange = { readonly body: JsonRecord } | { readonly skipped: string };

/** The change that an order makes to a service; all other fields stay as they were posted. */
export function changeOf(service: SwarmService, order: StackOrder): StackChange {
  const { spec, mode: { kind } } = service;
  const isJob = kind.endsWith("-job");
  if (isJobService(taskLabels(service))) {
    return { skipped: "it is a scheduled job, which the routes of jobs run" };
  }
  switch (order.action) {
    case "scale": {
      if (kind === "replicated") {
        return { body: { ...spec, Mode: { Replicated: { Replicas: order.replicas } } } };
      }
      if (kind !== "replicated-job") {
        return { skipped: "it runs once on every node, which no number changes" };
      }
      const job = { MaxConcurrent: order.replicas, TotalCompletions: order.replicas };
      return { body: { ...withoutUpdates(spec), Mode: { ReplicatedJob: job } } };
    }
    case "restart":
      return isJob ? { skipped: "it is a job, which ends by itself" } : { body: forced(spec) };
    case "run": {
      if (!isJob) return { skipped: "it is no job" };
      const labels = { ...asRecord(spec["Labels"]), [LAST_RUN]: order.at.toISOString() };
      return { body: { ...withoutUpdates(spec), Labels: labels } };
    }
  }
}

/** The specification with a counter that forces a swarm to replace tasks. */
function forced(spec: JsonRecord): JsonRecord {
  const template = asRecord(spec["TaskTemplate"]);
  const ForceUpdate = (asNumber(template["ForceUpdate"]) ?? 0) + 1;
  return { ...spec, TaskTemplate: { ...template, ForceUpdate } };
}

/** Without update rules: the engine refuses them for jobs, although it reports some. */
export function withoutUpdates(spec: JsonRecord): JsonRecord {
  const { UpdateConfig: _update, RollbackConfig: _rollback, ...rest } = spec;
  return rest;
}
