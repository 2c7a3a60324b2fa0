import { compareVersions } from "../../docker/api_version.ts";
import type { HostBody, PortBody } from "../../docker/create_bodies.ts";
import { filled, listOf } from "../../model/mod.ts";
import {
  isObject,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
} from "../../compose/model.ts";
import type { ContainerParts } from "./container_parts.ts";
import { networksByPriority } from "./endpoints.ts";
import { mountBodies } from "./mount_bodies.ts";
import { resourceLimits } from "./resource_limits.ts";
import { resourceName } from "../../compose/resources.ts";

/** The host configuration of a service's container. */
export function hostBody(service: JsonObject, parts: ContainerParts): HostBody {
  const { idOf, api } = parts;
  return {
    ...filled({
      NetworkMode: networkMode(service, parts),
      IpcMode: withId(textAt(service, "ipc"), idOf),
      PidMode: withId(textAt(service, "pid"), idOf),
      UTSMode: textAt(service, "uts"),
      CgroupnsMode: textAt(service, "cgroup"),
      UsernsMode: textAt(service, "userns_mode"),
      CgroupParent: textAt(service, "cgroup_parent"),
      Runtime: textAt(service, "runtime"),
      Init: flag(service, "init"),
      ReadonlyRootfs: flag(service, "read_only"),
      Privileged: flag(service, "privileged"),
      CapAdd: allOr(capabilities(service, "cap_add")),
      CapDrop: allOr(capabilities(service, "cap_drop")),
      Annotations: compareVersions(api, "1.43") < 0 ? {} : textMapAt(service, "annotations"),
      Sysctls: textMapAt(service, "sysctls"),
      StorageOpt: textMapAt(service, "storage_opt"),
      GroupAdd: wordsAt(service, "group_add"),
      Dns: wordsAt(service, "dns"),
      DnsSearch: wordsAt(service, "dns_search"),
      DnsOptions: wordsAt(service, "dns_opt"),
      DeviceCgroupRules: wordsAt(service, "device_cgroup_rules"),
      Devices: devices(service),
      VolumesFrom: volumesFrom(service, idOf),
      LogConfig: logging(service),
      Tmpfs: temporaryFiles(service),
    }),
    ...securityOptions(service),
    ExtraHosts: wordsAt(service, "extra_hosts").map((each) => each.replace("=", ":")),
    ...restartPolicy(service),
    PortBindings: portBindings(service),
    ...mountBodies(service, parts),
    ...resourceLimits(service),
  };
}

/** The texts of a list, or a single text. */
export function wordsAt(service: JsonObject, key: string): string[] {
  const value = service[key];
  if (typeof value === "string") return [value];
  return listOf(value).filter((each) => !isObject(each)).map(String);
}

function flag(service: JsonObject, key: string): boolean | undefined {
  const value = service[key];
  return typeof value === "boolean" ? value : undefined;
}

function networkMode(service: JsonObject, { model, idOf }: ContainerParts): string | undefined {
  const mode = textAt(service, "network_mode");
  if (mode !== "") return withId(mode, idOf);
  const [first] = networksByPriority(service);
  return first === undefined ? undefined : resourceName(model, "networks", first);
}

/** A mode with a service replaced by its container: the engine knows no services. */
export function withId(mode: string, idOf: (service: string) => string): string {
  return mode.startsWith("service:") ? `container:${idOf(mode.slice("service:".length))}` : mode;
}

/** Capabilities by their full names, sorted. */
export function capabilities(service: JsonObject, key: string): string[] {
  const full = wordsAt(service, key).map((each) => each.toUpperCase())
    .map((each) => each === "ALL" || each.startsWith("CAP_") ? each : `CAP_${each}`);
  return [...new Set(full)].sort();
}

function allOr(names: string[]): string[] {
  return names.includes("ALL") ? ["ALL"] : names;
}

function securityOptions(
  service: JsonObject,
): Pick<HostBody, "SecurityOpt" | "MaskedPaths" | "ReadonlyPaths"> {
  const options = wordsAt(service, "security_opt");
  const kept = options.filter((each) => each !== UNCONFINED_PATHS);
  return {
    ...(kept.length === 0 ? {} : { SecurityOpt: kept }),
    ...(kept.length === options.length ? {} : { MaskedPaths: [], ReadonlyPaths: [] }),
  };
}

const UNCONFINED_PATHS = "systempaths=unconfined";

function devices(service: JsonObject) {
  const wanted = listOf(service["devices"]);
  return wanted.map((each: unknown) => {
    // Compose before 2.30 prints devices as written, as text.
    const [source = "", target, permissions] = isObject(each)
      ? [textAt(each, "source"), textAt(each, "target"), textAt(each, "permissions")]
      : String(each).split(":");
    return {
      PathOnHost: source,
      PathInContainer: target || source,
      CgroupPermissions: permissions || "rwm",
    };
  });
}

function volumesFrom(service: JsonObject, idOf: ContainerParts["idOf"]): string[] {
  return wordsAt(service, "volumes_from").map((each) => {
    const [first = "", ...rest] = each.split(":");
    if (first === "container") return rest.join(":");
    return [idOf(first), ...rest].join(":");
  });
}

function logging(service: JsonObject) {
  const wanted = service["logging"];
  if (!isObject(wanted)) return undefined;
  return { Type: textAt(wanted, "driver"), Config: textMapAt(wanted, "options") };
}

/** `deploy.restart_policy` replaces `restart` completely, even without a condition. */
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

function temporaryFiles(service: JsonObject): Record<string, string> {
  return Object.fromEntries(
    wordsAt(service, "tmpfs").map((each) => {
      const [path = "", ...options] = each.split(":");
      return [path, options.join(":")];
    }),
  );
}
