import { compareVersions } from "../../docker/api_version.ts";
import type { HostBody, PortBody } from "../../docker/create_bodies.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  textAt,
} from "../../compose/model.ts";
import type { ContainerParts } from "./container_parts.ts";
import { networkName, networksByPriority } from "./endpoints.ts";
import { mountBodies } from "./mount_bodies.ts";
import { resourceLimits } from "./resource_limits.ts";

/** The share of its host that a service's container gets. */
export function hostBody(service: JsonObject, parts: ContainerParts): HostBody {
  const { idOf, api } = parts;
  return {
    ...networkMode(service, parts),
    ...shared(service, "ipc", "IpcMode", idOf),
    ...shared(service, "pid", "PidMode", idOf),
    ...text(service, "uts", "UTSMode"),
    ...text(service, "cgroup", "CgroupnsMode"),
    ...text(service, "userns_mode", "UsernsMode"),
    ...text(service, "cgroup_parent", "CgroupParent"),
    ...text(service, "runtime", "Runtime"),
    ...flag(service, "init", "Init"),
    ...flag(service, "read_only", "ReadonlyRootfs"),
    ...flag(service, "privileged", "Privileged"),
    ...capabilities(service, "cap_add", "CapAdd"),
    ...capabilities(service, "cap_drop", "CapDrop"),
    ...securityOptions(service),
    ...(compareVersions(api, "1.43") < 0 ? {} : texts(service, "annotations", "Annotations")),
    ...texts(service, "sysctls", "Sysctls"),
    ...texts(service, "storage_opt", "StorageOpt"),
    ...words(service, "group_add", "GroupAdd"),
    ...words(service, "dns", "Dns"),
    ...words(service, "dns_search", "DnsSearch"),
    ...words(service, "dns_opt", "DnsOptions"),
    ...words(service, "device_cgroup_rules", "DeviceCgroupRules"),
    ...devices(service),
    ExtraHosts: list(service, "extra_hosts").map((each) => each.replace("=", ":")),
    ...volumesFrom(service, idOf),
    ...logging(service),
    ...restartPolicy(service),
    PortBindings: portBindings(service),
    ...temporaryFiles(service),
    ...mountBodies(service, parts),
    ...resourceLimits(service),
  };
}

function list(service: JsonObject, key: string): string[] {
  const value = service[key];
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : [];
}

function text<Name extends keyof HostBody>(service: JsonObject, key: string, name: Name) {
  const value = textAt(service, key);
  return value === "" ? {} : { [name]: value };
}

function flag<Name extends keyof HostBody>(service: JsonObject, key: string, name: Name) {
  const value = service[key];
  return typeof value === "boolean" ? { [name]: value } : {};
}

function words<Name extends keyof HostBody>(service: JsonObject, key: string, name: Name) {
  const values = list(service, key);
  return values.length === 0 ? {} : { [name]: values };
}

function texts<Name extends keyof HostBody>(service: JsonObject, key: string, name: Name) {
  const values = labelsOf({ labels: objectAt(service, key) });
  return Object.keys(values).length === 0 ? {} : { [name]: values };
}

function networkMode(
  service: JsonObject,
  { model, idOf }: ContainerParts,
): Pick<HostBody, "NetworkMode"> {
  const mode = textAt(service, "network_mode");
  if (mode !== "") return { NetworkMode: withId(mode, idOf) };
  const [first] = networksByPriority(service);
  return first === undefined ? {} : { NetworkMode: networkName(model, first) };
}

function shared<Name extends "IpcMode" | "PidMode">(
  service: JsonObject,
  key: string,
  name: Name,
  idOf: ContainerParts["idOf"],
) {
  const value = textAt(service, key);
  return value === "" ? {} : { [name]: withId(value, idOf) };
}

/** The engine knows no services, only the container of one. */
export function withId(mode: string, idOf: (service: string) => string): string {
  return mode.startsWith("service:") ? `container:${idOf(mode.slice("service:".length))}` : mode;
}

function capabilities<Name extends "CapAdd" | "CapDrop">(
  service: JsonObject,
  key: string,
  name: Name,
) {
  const full = list(service, key).map((each) => each.toUpperCase())
    .map((each) => each === "ALL" || each.startsWith("CAP_") ? each : `CAP_${each}`);
  if (full.length === 0) return {};
  return { [name]: full.includes("ALL") ? ["ALL"] : [...new Set(full)].sort() };
}

function securityOptions(
  service: JsonObject,
): Pick<HostBody, "SecurityOpt" | "MaskedPaths" | "ReadonlyPaths"> {
  const options = list(service, "security_opt");
  const kept = options.filter((each) => each !== UNCONFINED_PATHS);
  return {
    ...(kept.length === 0 ? {} : { SecurityOpt: kept }),
    ...(kept.length === options.length ? {} : { MaskedPaths: [], ReadonlyPaths: [] }),
  };
}

const UNCONFINED_PATHS = "systempaths=unconfined";

function devices(service: JsonObject): Pick<HostBody, "Devices"> {
  const wanted = Array.isArray(service["devices"]) ? service["devices"] : [];
  if (wanted.length === 0) return {};
  return {
    Devices: wanted.map((each: unknown) => {
      // Compose before 2.30 prints what was written.
      const [source = "", target, permissions] = isObject(each)
        ? [textAt(each, "source"), textAt(each, "target"), textAt(each, "permissions")]
        : String(each).split(":");
      return {
        PathOnHost: source,
        PathInContainer: target || source,
        CgroupPermissions: permissions || "rwm",
      };
    }),
  };
}

function volumesFrom(
  service: JsonObject,
  idOf: ContainerParts["idOf"],
): Pick<HostBody, "VolumesFrom"> {
  const sources = list(service, "volumes_from");
  if (sources.length === 0) return {};
  return {
    VolumesFrom: sources.map((each) => {
      const [first = "", ...rest] = each.split(":");
      if (first === "container") return rest.join(":");
      return [idOf(first), ...rest].join(":");
    }),
  };
}

function logging(service: JsonObject): Pick<HostBody, "LogConfig"> {
  const wanted = service["logging"];
  if (!isObject(wanted)) return {};
  const Config = labelsOf({ labels: objectAt(wanted, "options") });
  return { LogConfig: { Type: textAt(wanted, "driver"), Config } };
}

/**
 * `deploy.restart_policy` replaces `restart` as a whole, also where it does not name a condition.
 */
export function restartPolicy(service: JsonObject): Pick<HostBody, "RestartPolicy"> {
  const policy = objectAt(service, "deploy")["restart_policy"];
  const named = (word: string) => word === "any" ? "always" : word === "none" ? "no" : word;
  if (isObject(policy)) {
    const Name = named(textAt(policy, "condition"));
    const count = Number(policy["max_attempts"] ?? 0);
    return { RestartPolicy: { Name, MaximumRetryCount: count } };
  }
  const restart = textAt(service, "restart");
  if (restart === "") return {};
  const [word = "", count = "0"] = restart.split(":");
  return { RestartPolicy: { Name: named(word), MaximumRetryCount: Number(count) || 0 } };
}

function portBindings(service: JsonObject): Record<string, PortBody[]> {
  const bindings: Record<string, PortBody[]> = {};
  for (const port of objectsAt(service, "ports")) {
    const key = `${port["target"]}/${textAt(port, "protocol") || "tcp"}`;
    const published = port["published"] ?? "";
    (bindings[key] ??= []).push({ HostIp: textAt(port, "host_ip"), HostPort: String(published) });
  }
  return bindings;
}

function temporaryFiles(service: JsonObject): Pick<HostBody, "Tmpfs"> {
  const paths = list(service, "tmpfs");
  if (paths.length === 0) return {};
  return {
    Tmpfs: Object.fromEntries(paths.map((each) => {
      const [path = "", ...options] = each.split(":");
      return [path, options.join(":")];
    })),
  };
}
