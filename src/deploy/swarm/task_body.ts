import type { TaskBody } from "../../docker/swarm_bodies.ts";
import { filled, isJobService } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  serviceOf,
  textAt,
  textMapAt,
} from "../../compose/mod.ts";
import { amountOf, nanoCpus, nanoseconds, numberOf } from "../engine/units.ts";
import type { StackParts } from "./stack_parts.ts";
import { wordsAt } from "../engine/host_body.ts";
import { taskContainer } from "./task_container.ts";
import { resourceName } from "../../compose/resources.ts";

/** The template of a service's tasks. */
export function taskBody(name: string, parts: StackParts): TaskBody {
  const service = serviceOf(parts.model, name);
  const RestartPolicy = restartPolicy(service);
  return {
    ContainerSpec: taskContainer(name, service, parts),
    ...(RestartPolicy === undefined ? {} : { RestartPolicy }),
    ...filled({
      Resources: resources(service),
      Placement: placement(service),
      Networks: attachments(name, service, parts),
      LogDriver: logDriver(service),
    }),
  };
}

function resources(service: JsonObject) {
  const wanted = objectAt(objectAt(service, "deploy"), "resources");
  const [limits, reserved] = [objectAt(wanted, "limits"), objectAt(wanted, "reservations")];
  const pids = amountOf(limits["pids"]) ?? amountOf(service["pids_limit"]);
  return filled({
    Limits: filled({
      NanoCPUs: nanoCpus(limits["cpus"]) ?? nanoCpus(service["cpus"]),
      MemoryBytes: amountOf(limits["memory"]) ?? amountOf(service["mem_limit"]),
      Pids: pids !== undefined && pids > 0 ? pids : undefined,
    }),
    Reservations: filled({
      NanoCPUs: nanoCpus(reserved["cpus"]),
      MemoryBytes: amountOf(reserved["memory"]) ?? amountOf(service["mem_reservation"]),
      GenericResources: objectsAt(reserved, "generic_resources").map((each) => {
        const { kind, value } = objectAt(each, "discrete_resource_spec");
        return { DiscreteResourceSpec: { Kind: String(kind), Value: numberOf(value) ?? 0 } };
      }),
    }),
  });
}

/** `deploy.restart_policy` replaces `restart` completely, as on a single host. */
function restartPolicy(service: JsonObject): TaskBody["RestartPolicy"] {
  const policy = objectAt(service, "deploy")["restart_policy"];
  // Only the schedule starts a job; other policies were refused before.
  if (isJobService(labelsOf(service))) return { Condition: "none" };
  if (isObject(policy)) {
    return filled({
      Condition: textAt(policy, "condition"),
      Delay: time(policy["delay"]),
      MaxAttempts: numberOf(policy["max_attempts"]),
      Window: time(policy["window"]),
    });
  }
  const [word = "", count = "0"] = textAt(service, "restart").split(":");
  if (word === "") return undefined;
  if (word === "no") return { Condition: "none" };
  if (word !== "on-failure") return { Condition: "any" };
  return { Condition: "on-failure", MaxAttempts: Number(count) || 0 };
}

/** Nanoseconds of a duration; `undefined` without one. */
export function time(value: unknown): number | undefined {
  return typeof value === "string" && value !== "" ? nanoseconds(value) : undefined;
}

function placement(service: JsonObject) {
  const wanted = objectAt(objectAt(service, "deploy"), "placement");
  const platform = textAt(service, "platform").split("/");
  return filled({
    Constraints: wordsAt(wanted, "constraints"),
    Preferences: objectsAt(wanted, "preferences").map((each) => textAt(each, "spread"))
      .filter((each) => each !== "")
      .map((each) => ({ Spread: { SpreadDescriptor: each } })),
    MaxReplicas: amountOf(wanted["max_replicas_per_node"]),
    Platforms: platform.length < 2
      ? []
      : [{ OS: platform[0] ?? "", Architecture: platform[1] ?? "" }],
  });
}

/** The networks of a service, each with its aliases; the first alias is the service's name. */
function attachments(name: string, service: JsonObject, { model }: StackParts) {
  const mode = textAt(service, "network_mode");
  if (mode !== "") return [{ Target: mode }];
  return Object.keys(objectAt(service, "networks")).sort().map((key) => {
    const wanted = objectAt(objectAt(service, "networks"), key);
    return {
      Target: resourceName(model, "networks", key),
      Aliases: [...new Set([name, ...wordsAt(wanted, "aliases")])],
      ...filled({ DriverOpts: textMapAt(wanted, "driver_opts") }),
    };
  });
}

function logDriver(service: JsonObject) {
  const wanted = service["logging"];
  if (!isObject(wanted)) return undefined;
  return { Name: textAt(wanted, "driver"), Options: textMapAt(wanted, "options") };
}
