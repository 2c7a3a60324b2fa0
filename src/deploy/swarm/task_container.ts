import type { FileReferenceBody, TaskContainerBody } from "../../docker/swarm_bodies.ts";
import { LABELS } from "../../model/mod.ts";
import { type JsonObject, labelsOf, objectAt, objectsAt, textAt } from "../../compose/mod.ts";
import { healthBody } from "../engine/health_body.ts";
import { ulimits } from "../engine/resource_limits.ts";
import { fileMode, nanoseconds } from "../engine/units.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";
import { texts } from "./swarm_keys.ts";
import { taskMounts, withoutCompose } from "./task_mounts.ts";
import { flag, list, optional, some, text, words } from "./body_members.ts";

/** The container of each task of a service. */
export function taskContainer(
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
