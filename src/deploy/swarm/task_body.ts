import type { ResourceBody, TaskBody } from "../../docker/swarm_bodies.ts";
import { isJobService } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  servicesOf,
  textAt,
} from "../../compose/mod.ts";
import { networkName } from "../engine/endpoints.ts";
import { amountOf, nanoCpus, nanoseconds, numberOf } from "../engine/units.ts";
import type { StackParts } from "./stack_parts.ts";
import { texts } from "./swarm_keys.ts";
import { taskContainer } from "./task_container.ts";
import { optional, some } from "./body_members.ts";

/** What each task of a service is made from. */
export function taskBody(name: string, parts: StackParts): TaskBody {
  const service = servicesOf(parts.model)[name] ?? {};
  return {
    ContainerSpec: taskContainer(name, service, parts),
    ...resources(service),
    ...restartPolicy(service),
    ...placement(service),
    ...attachments(name, service, parts),
    ...logDriver(service),
  };
}

function resources(service: JsonObject): Pick<TaskBody, "Resources"> {
  const wanted = objectAt(objectAt(service, "deploy"), "resources");
  const [limits, reserved] = [objectAt(wanted, "limits"), objectAt(wanted, "reservations")];
  const generic = objectsAt(reserved, "generic_resources").map((each) => {
    const { kind, value } = objectAt(each, "discrete_resource_spec");
    return { DiscreteResourceSpec: { Kind: String(kind), Value: numberOf(value) ?? 0 } };
  });
  const pids = amountOf(limits["pids"]) ?? amountOf(service["pids_limit"]);
  const Limits: ResourceBody = {
    ...optional("NanoCPUs", nanoCpus(limits["cpus"]) ?? nanoCpus(service["cpus"])),
    ...optional("MemoryBytes", amountOf(limits["memory"]) ?? amountOf(service["mem_limit"])),
    ...optional("Pids", pids !== undefined && pids > 0 ? pids : undefined),
  };
  const memory = amountOf(reserved["memory"]) ?? amountOf(service["mem_reservation"]);
  const Reservations: ResourceBody = {
    ...optional("NanoCPUs", nanoCpus(reserved["cpus"])),
    ...optional("MemoryBytes", memory),
    ...(generic.length === 0 ? {} : { GenericResources: generic }),
  };
  const Resources = {
    ...(Object.keys(Limits).length === 0 ? {} : { Limits }),
    ...(Object.keys(Reservations).length === 0 ? {} : { Reservations }),
  };
  return Object.keys(Resources).length === 0 ? {} : { Resources };
}

/** `deploy.restart_policy` replaces `restart` as a whole, as on a single host. */
function restartPolicy(service: JsonObject): Pick<TaskBody, "RestartPolicy"> {
  const policy = objectAt(service, "deploy")["restart_policy"];
  // Its schedule alone starts it; what else it says was refused before.
  if (isJobService(labelsOf(service))) return { RestartPolicy: { Condition: "none" } };
  if (isObject(policy)) {
    return {
      RestartPolicy: {
        ...optional("Condition", textAt(policy, "condition") || undefined),
        ...optional("Delay", time(policy["delay"])),
        ...optional("MaxAttempts", numberOf(policy["max_attempts"])),
        ...optional("Window", time(policy["window"])),
      },
    };
  }
  const [word = "", count = "0"] = textAt(service, "restart").split(":");
  if (word === "") return {};
  if (word === "no") return { RestartPolicy: { Condition: "none" } };
  if (word !== "on-failure") return { RestartPolicy: { Condition: "any" } };
  return { RestartPolicy: { Condition: "on-failure", MaxAttempts: Number(count) || 0 } };
}

/** Nanoseconds of a length of time; `undefined` where there is none. */
export function time(value: unknown): number | undefined {
  return typeof value === "string" && value !== "" ? nanoseconds(value) : undefined;
}

function placement(service: JsonObject): Pick<TaskBody, "Placement"> {
  const wanted = objectAt(objectAt(service, "deploy"), "placement");
  const spread = objectsAt(wanted, "preferences").map((each) => textAt(each, "spread"))
    .filter((each) => each !== "");
  const platform = textAt(service, "platform").split("/");
  const Placement = {
    ...some("Constraints", texts(wanted, "constraints")),
    ...(spread.length === 0
      ? {}
      : { Preferences: spread.map((each) => ({ Spread: { SpreadDescriptor: each } })) }),
    ...optional("MaxReplicas", amountOf(wanted["max_replicas_per_node"])),
    ...(platform.length < 2
      ? {}
      : { Platforms: [{ OS: platform[0] ?? "", Architecture: platform[1] ?? "" }] }),
  };
  return Object.keys(Placement).length === 0 ? {} : { Placement };
}

/** Names by which others find a service come with each network; the first is its own. */
function attachments(
  name: string,
  service: JsonObject,
  { model }: StackParts,
): Pick<TaskBody, "Networks"> {
  const mode = textAt(service, "network_mode");
  if (mode !== "") return { Networks: [{ Target: mode }] };
  const networks = Object.keys(objectAt(service, "networks")).sort();
  if (networks.length === 0) return {};
  return {
    Networks: networks.map((key) => {
      const wanted = objectAt(objectAt(service, "networks"), key);
      const options = labelsOf({ labels: objectAt(wanted, "driver_opts") });
      return {
        Target: networkName(model, key),
        Aliases: [...new Set([name, ...texts(wanted, "aliases")])],
        ...(Object.keys(options).length === 0 ? {} : { DriverOpts: options }),
      };
    }),
  };
}

function logDriver(service: JsonObject): Pick<TaskBody, "LogDriver"> {
  const wanted = service["logging"];
  if (!isObject(wanted)) return {};
  const Options = labelsOf({ labels: objectAt(wanted, "options") });
  return { LogDriver: { Name: textAt(wanted, "driver"), Options } };
}
