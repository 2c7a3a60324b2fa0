import { compareVersions } from "../../docker/api_version.ts";
import type { FileReferenceBody, TaskContainerBody } from "../../docker/swarm_bodies.ts";
import { filled, LABELS, own } from "../../model/mod.ts";
import {
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
} from "../../compose/mod.ts";
import { environmentOf } from "../engine/container_body.ts";
import { healthBody } from "../engine/health_body.ts";
import { capabilities, wordsAt } from "../engine/host_body.ts";
import { ulimits } from "../engine/resource_limits.ts";
import { fileMode, nanoseconds } from "../engine/units.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";
import { taskMounts, withoutCompose } from "./task_mounts.ts";

/** The container of a service's tasks. */
export function taskContainer(
  name: string,
  service: JsonObject,
  parts: StackParts,
): TaskContainerBody {
  const grace = service["stop_grace_period"];
  return {
    Image: own(parts.images, name) ?? textAt(service, "image"),
    Labels: taskLabels(name, service, parts),
    ...list(service, "entrypoint", "Command"),
    ...list(service, "command", "Args"),
    ...filled({
      Hostname: textAt(service, "hostname"),
      // A changed order must not replace tasks.
      Env: environmentOf(service).sort(),
      Dir: textAt(service, "working_dir"),
      User: textAt(service, "user"),
      Groups: wordsAt(service, "group_add"),
      Privileges: privileges(service, parts.api),
      TTY: onlyTrue(service["tty"]),
      OpenStdin: onlyTrue(service["stdin_open"]),
      ReadOnly: onlyTrue(service["read_only"]),
      Mounts: taskMounts(service, parts),
      StopSignal: textAt(service, "stop_signal"),
      StopGracePeriod: grace === undefined ? undefined : nanoseconds(grace),
      Hosts: hosts(service),
      DNSConfig: filled({
        Nameservers: wordsAt(service, "dns"),
        Search: wordsAt(service, "dns_search"),
        Options: wordsAt(service, "dns_opt"),
      }),
      Secrets: references(service, "secrets", parts),
      Configs: references(service, "configs", parts),
      Init: typeof service["init"] === "boolean" ? service["init"] : undefined,
      Isolation: textAt(service, "isolation"),
      Sysctls: textMapAt(service, "sysctls"),
      CapabilityAdd: capabilities(service, "cap_add"),
      CapabilityDrop: capabilities(service, "cap_drop"),
      Ulimits: ulimits(service),
    }),
    ...healthBody(service, parts.api),
  };
}

/** An empty list differs from none: it removes the image's setting. */
function list<Name extends "Command" | "Args">(service: JsonObject, key: string, name: Name) {
  return Array.isArray(service[key]) ? { [name]: wordsAt(service, key) } : {};
}

/** `true` or nothing: engines omit false values. */
function onlyTrue(value: unknown): true | undefined {
  return value === true ? true : undefined;
}

/**
 * Labels of the tasks. Those that change with every release are on the service only: here they
 * would replace every task. The digest of mounted files is added, as nothing else shows their
 * content.
 */
function taskLabels(name: string, service: JsonObject, { stack, content }: StackParts) {
  const moving = new Set<string>([LABELS.digest, LABELS.sourceConfiguration, LABELS.autoDiscovery]);
  const labels = Object.entries(labelsOf(service)).filter(([label]) => !moving.has(label));
  const seen = own(content, name);
  return {
    // A task with a compose project's labels would be stopped with that project, or run as a job.
    ...withoutCompose(Object.fromEntries(labels)),
    [STACK_LABELS.namespace]: stack,
    ...(seen === undefined ? {} : { [LABELS.content]: seen }),
  };
}

function privileges(service: JsonObject, api: string) {
  const options = wordsAt(service, "security_opt");
  const has = (option: RegExp) => onlyTrue(options.some((each) => option.test(each)));
  const value = (name: string) =>
    options.map((each) => new RegExp(`^label[:=]${name}[:=](.+)$`).exec(each)?.[1])
      .find((each) => each !== undefined);
  const credentials = objectAt(service, "credential_spec");
  return filled({
    // Older engines drop it, which would look like drift.
    NoNewPrivileges: compareVersions(api, "1.44") < 0
      ? undefined
      : has(/^no-new-privileges(?:[:=]true)?$/),
    SELinuxContext: filled({
      Disable: has(/^label[:=]disable$/),
      User: value("user"),
      Role: value("role"),
      Type: value("type"),
      Level: value("level"),
    }),
    CredentialSpec: filled({
      Config: textAt(credentials, "config"),
      File: textAt(credentials, "file"),
      Registry: textAt(credentials, "registry"),
    }),
  });
}

/** Lines for a hosts file, from compose's `name=address`. */
function hosts(service: JsonObject): string[] {
  return wordsAt(service, "extra_hosts").map((each) => {
    const [, name = "", address = ""] = /^([^=:]+)[=:](.+)$/.exec(each) ?? [];
    return `${address.replace(/^\[(.*)\]$/, "$1")} ${name}`;
  });
}

function references(
  service: JsonObject,
  kind: "configs" | "secrets",
  { object }: StackParts,
): FileReferenceBody[] {
  return objectsAt(service, kind).map((use) => {
    const source = textAt(use, "source");
    const { id, name } = object(kind, source);
    const target = textAt(use, "target") || source;
    const File = {
      // The engine puts secrets below /run/secrets itself, but takes a config's path as it is.
      Name: kind === "secrets" || target.startsWith("/") ? target : `/${target}`,
      UID: textAt(use, "uid") || "0",
      GID: textAt(use, "gid") || "0",
      Mode: fileMode(use["mode"]),
    };
    return kind === "secrets"
      ? { SecretID: id, SecretName: name, File }
      : { ConfigID: id, ConfigName: name, File };
  });
}
