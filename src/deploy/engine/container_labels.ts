import { COMPOSE_LABELS, LABELS, recordOf, SWARM_TASK } from "../../model/mod.ts";
import { type JsonObject, labelsOf, objectAt, serviceOf } from "../../compose/model.ts";
import { isSince } from "../../compose/is_since.ts";
import { configHash } from "./config_hash.ts";
import type { ContainerParts } from "./container_parts.ts";
import { withId } from "./host_body.ts";

/** Whether a version of compose identifies images by their platform's digest. */
export function knowsImagesByContent(version: string): boolean {
  return isSince(version, [5, 4]);
}

interface LabelParts extends Pick<ContainerParts, "model" | "service" | "number" | "idOf"> {
  readonly project: string;
  /** Identity of the image for compose. */
  readonly imageId: string;
  /** The project's directory, as passed to compose. */
  readonly directory: string;
  /** Compose files, as passed to compose. */
  readonly files: readonly string[];
  /** The version of compose that people use on this host; empty if it is unknown. */
  readonly composeVersion: string;
}

/** The labels of a container: its author's, and those by which compose recognizes its own. */
export function containerLabels(parts: LabelParts): Record<string, string> {
  const service = serviceOf(parts.model, parts.service);
  const own = withoutOurLabels(withIds(service, parts.idOf));
  return {
    ...labelsOf(service),
    [COMPOSE_LABELS.project]: parts.project,
    [COMPOSE_LABELS.service]: parts.service,
    [COMPOSE_LABELS.number]: String(parts.number),
    [COMPOSE_LABELS.oneOff]: "False",
    [COMPOSE_LABELS.image]: parts.imageId,
    [COMPOSE_LABELS.workingDirectory]: parts.directory,
    [COMPOSE_LABELS.configFiles]: parts.files.join(","),
    [COMPOSE_LABELS.configHash]: configHash(own, parts.composeVersion),
    [COMPOSE_LABELS.dependsOn]: dependencies(service),
  };
}

/** The service with other services that it names replaced by the ids of their containers. */
function withIds(service: JsonObject, idOf: LabelParts["idOf"]): JsonObject {
  const modes = ["network_mode", "ipc", "pid"].flatMap((key) => {
    const mode = service[key];
    return typeof mode === "string" ? [[key, withId(mode, idOf)]] : [];
  });
  const from = service["volumes_from"];
  if (!Array.isArray(from)) return { ...service, ...Object.fromEntries(modes) };
  const volumes = from.map((each) => {
    const [first = "", second = ""] = String(each).split(":");
    return first === "container" ? second : idOf(first);
  });
  return { ...service, ...Object.fromEntries(modes), volumes_from: volumes };
}

/** The service without labels that Stackwright added, which are not in the author's file. */
function withoutOurLabels(service: JsonObject): JsonObject {
  const ours = new Set<string>([...Object.values(LABELS), SWARM_TASK]);
  const labels = Object.entries(objectAt(service, "labels")).filter(([name]) => !ours.has(name));
  const { labels: _labels, ...rest } = service;
  if (labels.length === 0) return rest;
  return { ...service, labels: Object.fromEntries(labels) };
}

function dependencies(service: JsonObject): string {
  return Object.entries(objectAt(service, "depends_on")).map(([name, how]) => {
    const { condition, restart } = recordOf(how);
    return `${name}:${condition ?? "service_started"}:${restart === true}`;
  }).join(",");
}
