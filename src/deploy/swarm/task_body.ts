import type {
  FileReferenceBody,
  ResourceBody,
  TaskBody,
  TaskContainerBody,
} from "../../docker/swarm_bodies.ts";
import { isJobService, LABELS } from "../../model/mod.ts";
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
import { healthBody } from "../engine/health_body.ts";
import { ulimits } from "../engine/resource_limits.ts";
import { amountOf, fileMode, nanoCpus, nanoseconds, numberOf } from "../engine/units.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";
import { texts } from "./swarm_keys.ts";
import { taskMounts, withoutCompose } from "./task_mounts.ts";

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

function taskContainer(
  name: string,
  service: JsonObject,
  parts: StackParts,
): TaskContainerBody {
  const grace = service["stop_grace_period"];
  const mounts = taskMounts(service, parts);
  return {
    Image: parts.images[name] ?? textAt(service, "image"),
    Labels: taskLabels(name, service, parts),
    ...list(service, "entrypoint", "Command"),
    ...list(service, "command", "Args"),
    ...text(service, "hostname", "Hostname"),
    ...environment(service),
    ...text(service, "working_dir", "Dir"),
    ...text(service, "user", "User"),
    ...words(service, "group_add", "Groups"),
    ...privileges(service),
    ...flag(service, "tty", "TTY"),
    ...flag(service, "stdin_open", "OpenStdin"),
    ...flag(service, "read_only", "ReadOnly"),
    ...(mounts.length === 0 ? {} : { Mounts: mounts }),
    ...text(service, "stop_signal", "StopSignal"),
    ...(grace === undefined ? {} : { StopGracePeriod: nanoseconds(grace) }),
    ...healthBody(service, parts.api),
    ...hosts(service),
    ...nameServers(service),
    ...references(service, "secrets", parts),
    ...references(service, "configs", parts),
    ...(typeof service["init"] === "boolean" ? { Init: service["init"] } : {}),
    ...text(service, "isolation", "Isolation"),
    ...sysctls(service),
    ...capabilities(service, "cap_add", "CapabilityAdd"),
    ...capabilities(service, "cap_drop", "CapabilityDrop"),
    ...ulimits(service),
  };
}

/**
 * What changes with a release is on the service: here it would replace every task. Only the content of
 * mounted files is, since nothing else of the task tells of it.
 */
function taskLabels(
  name: string,
  service: JsonObject,
  { stack, content }: StackParts,
): Record<string, string> {
  const moving = new Set<string>([LABELS.digest, LABELS.sourceConfiguration, LABELS.autoDiscovery]);
  const labels = Object.entries(labelsOf(service)).filter(([label]) => !moving.has(label));
  const seen = content[name];
  return {
    // A task that looks like a container of a project would be stopped, or run as a job, with it.
    ...withoutCompose(Object.fromEntries(labels)),
    [STACK_LABELS.namespace]: stack,
    ...(seen === undefined ? {} : { [LABELS.content]: seen }),
  };
}

function text<Name extends keyof TaskContainerBody>(
  service: JsonObject,
  key: string,
  name: Name,
) {
  const value = textAt(service, key);
  return value === "" ? {} : { [name]: value };
}

function flag<Name extends keyof TaskContainerBody>(service: JsonObject, key: string, name: Name) {
  return service[key] === true ? { [name]: true } : {};
}

/** An empty list is not the same as none: it takes away what the image says. */
function list<Name extends keyof TaskContainerBody>(service: JsonObject, key: string, name: Name) {
  return Array.isArray(service[key]) ? { [name]: texts(service, key) } : {};
}

function words<Name extends keyof TaskContainerBody>(service: JsonObject, key: string, name: Name) {
  const values = texts(service, key);
  return values.length === 0 ? {} : { [name]: values };
}

/** Sorted: the order of a map is no reason to replace a task. */
function environment(service: JsonObject): Pick<TaskContainerBody, "Env"> {
  const variables = Object.entries(objectAt(service, "environment"));
  if (variables.length === 0) return {};
  return {
    Env: variables.map(([name, value]) => value === null ? name : `${name}=${String(value)}`)
      .sort(),
  };
}

function privileges(service: JsonObject): Pick<TaskContainerBody, "Privileges"> {
  const options = texts(service, "security_opt");
  const value = (name: string) =>
    options.map((each) => new RegExp(`^label[:=]${name}[:=](.+)$`).exec(each)?.[1])
      .find((each) => each !== undefined);
  const context = {
    ...(options.some((each) => /^label[:=]disable$/.test(each)) ? { Disable: true } : {}),
    ...optional("User", value("user")),
    ...optional("Role", value("role")),
    ...optional("Type", value("type")),
    ...optional("Level", value("level")),
  };
  const credentials = objectAt(service, "credential_spec");
  const spec = {
    ...optional("Config", textAt(credentials, "config") || undefined),
    ...optional("File", textAt(credentials, "file") || undefined),
    ...optional("Registry", textAt(credentials, "registry") || undefined),
  };
  const Privileges = {
    ...(options.some((each) => /^no-new-privileges(?:[:=]true)?$/.test(each))
      ? { NoNewPrivileges: true }
      : {}),
    ...(Object.keys(context).length === 0 ? {} : { SELinuxContext: context }),
    ...(Object.keys(spec).length === 0 ? {} : { CredentialSpec: spec }),
  };
  return Object.keys(Privileges).length === 0 ? {} : { Privileges };
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : { [name]: value } as Record<Name, Value>;
}

/** Compose prints `name=address`; a task takes a line of a hosts file. */
function hosts(service: JsonObject): Pick<TaskContainerBody, "Hosts"> {
  const lines = texts(service, "extra_hosts").map((each) => {
    const [, name = "", address = ""] = /^([^=:]+)[=:](.+)$/.exec(each) ?? [];
    return `${address.replace(/^\[(.*)\]$/, "$1")} ${name}`;
  });
  return lines.length === 0 ? {} : { Hosts: lines };
}

function nameServers(service: JsonObject): Pick<TaskContainerBody, "DNSConfig"> {
  const config = {
    ...some("Nameservers", texts(service, "dns")),
    ...some("Search", texts(service, "dns_search")),
    ...some("Options", texts(service, "dns_opt")),
  };
  return Object.keys(config).length === 0 ? {} : { DNSConfig: config };
}

function some<Name extends string>(name: Name, values: readonly string[]) {
  return values.length === 0 ? {} : { [name]: values } as Record<Name, readonly string[]>;
}

function sysctls(service: JsonObject): Pick<TaskContainerBody, "Sysctls"> {
  const values = labelsOf({ labels: objectAt(service, "sysctls") });
  return Object.keys(values).length === 0 ? {} : { Sysctls: values };
}

function capabilities<Name extends "CapabilityAdd" | "CapabilityDrop">(
  service: JsonObject,
  key: string,
  name: Name,
) {
  const full = texts(service, key).map((each) => each.toUpperCase())
    .map((each) => each === "ALL" || each.startsWith("CAP_") ? each : `CAP_${each}`);
  return full.length === 0 ? {} : { [name]: [...new Set(full)].sort() };
}

function references(
  service: JsonObject,
  kind: "configs" | "secrets",
  { object }: StackParts,
): Pick<TaskContainerBody, "Configs" | "Secrets"> {
  const uses = objectsAt(service, kind);
  if (uses.length === 0) return {};
  const found = uses.map((use): FileReferenceBody => {
    const source = textAt(use, "source");
    const { id, name } = object(kind, source);
    const target = textAt(use, "target") || source;
    const File = {
      // A secret's name is below /run/secrets by itself, a config's is not.
      Name: kind === "secrets" || target.startsWith("/") ? target : `/${target}`,
      UID: textAt(use, "uid") || "0",
      GID: textAt(use, "gid") || "0",
      Mode: fileMode(use["mode"]),
    };
    return kind === "secrets"
      ? { SecretID: id, SecretName: name, File }
      : { ConfigID: id, ConfigName: name, File };
  });
  return kind === "secrets" ? { Secrets: found } : { Configs: found };
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
