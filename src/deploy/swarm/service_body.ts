import type { ModeBody, ServiceBody, UpdateBody } from "../../docker/swarm_bodies.ts";
import { filled, isJobService, LABELS, own } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  serviceOf,
  textAt,
} from "../../compose/mod.ts";
import { numberOf } from "../engine/units.ts";
import { EVERY_NODE, STACK_LABELS, type StackParts } from "./stack_parts.ts";
import { taskBody, time } from "./task_body.ts";
import { withoutCompose } from "./task_mounts.ts";

/** Request for a service of a stack; a pure function. The model must pass {@link notForSwarm}. */
export function serviceBody(name: string, parts: StackParts): ServiceBody {
  const { stack, model } = parts;
  const service = serviceOf(model, name);
  const deploy = objectAt(service, "deploy");
  const replicas = own(parts.replicas, name) ?? 1;
  const isScheduled = isJobService(labelsOf(service));
  return {
    Name: `${stack}_${name}`,
    Labels: {
      ...withoutCompose(labelsOf(deploy)),
      ...ourLabels(labelsOf(service)),
      ...(isScheduled ? { [LABELS.jobTasks]: tasksOfRun(deploy, replicas) } : {}),
      [STACK_LABELS.namespace]: stack,
      [STACK_LABELS.image]: textAt(service, "image"),
    },
    TaskTemplate: taskBody(name, parts),
    ...(isScheduled ? { Mode: NO_TASKS } : {
      Mode: modeBody(deploy, replicas),
      ...update(deploy, "update_config", "UpdateConfig"),
      ...update(deploy, "rollback_config", "RollbackConfig"),
    }),
    ...endpoint(service, deploy),
  };
}

/** The labels by which Stackwright recognizes a service, among those of its containers. */
function ourLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const ours = new Set<string>(Object.values(LABELS));
  return Object.fromEntries(Object.entries(labels).filter(([name]) => ours.has(name)));
}

/** Mode of a scheduled job: deployments never run it, so it is a job without tasks. */
const NO_TASKS: ModeBody = { ReplicatedJob: { MaxConcurrent: 0, TotalCompletions: 0 } };

function tasksOfRun(deploy: JsonObject, replicas: number): string {
  return textAt(deploy, "mode").startsWith("global") ? EVERY_NODE : String(Math.max(1, replicas));
}

function modeBody(deploy: JsonObject, replicas: number): ModeBody {
  switch (textAt(deploy, "mode")) {
    case "global":
      return { Global: {} };
    case "global-job":
      return { GlobalJob: {} };
    case "replicated-job":
      return { ReplicatedJob: { MaxConcurrent: replicas, TotalCompletions: replicas } };
    default:
      return { Replicated: { Replicas: replicas } };
  }
}

function update<Name extends "UpdateConfig" | "RollbackConfig">(
  deploy: JsonObject,
  key: string,
  name: Name,
) {
  const wanted = deploy[key];
  if (!isObject(wanted)) return {};
  const body: UpdateBody = {
    // Compose's default is one at a time; 0 means all at once.
    Parallelism: numberOf(wanted["parallelism"]) ?? 1,
    ...filled({
      Delay: time(wanted["delay"]),
      Monitor: time(wanted["monitor"]),
      FailureAction: textAt(wanted, "failure_action"),
      MaxFailureRatio: numberOf(wanted["max_failure_ratio"]),
      Order: textAt(wanted, "order"),
    }),
  };
  return { [name]: body };
}

function endpoint(service: JsonObject, deploy: JsonObject): Pick<ServiceBody, "EndpointSpec"> {
  const mode = textAt(deploy, "endpoint_mode");
  const ports = objectsAt(service, "ports").map((port) => {
    return {
      ...filled({ Name: textAt(port, "name") }),
      Protocol: textAt(port, "protocol") || "tcp",
      TargetPort: numberOf(port["target"]) ?? 0,
      ...filled({ PublishedPort: numberOf(port["published"]) || undefined }),
      PublishMode: textAt(port, "mode") === "host" ? "host" as const : "ingress" as const,
    };
  });
  const Mode = mode === "vip" || mode === "dnsrr" ? mode : undefined;
  return filled({ EndpointSpec: filled({ Mode, Ports: ports }) });
}
