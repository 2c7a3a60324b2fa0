import { COMPOSE_LABELS, LABELS, type ObservedContainer, PEER_URL, peerUrl } from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import { asList, asRecord, asText, asTexts, type JsonRecord } from "./json.ts";
import { members, short } from "./kept_parts.ts";
import { nameOf, ownLabels } from "./observed_container.ts";
import { asAnyName, asName, LONGEST_ID } from "./told.ts";

/** Mounts of a container in any state. */
export interface ContainerMounts {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** Its image, as it was asked for. */
  readonly image: string;
  /** Name of its stack in {@link LABELS.deployment}; empty without that label. */
  readonly deployment: string;
  /** Its compose project; empty without one. */
  readonly project: string;
  /** Its service in that project; empty without one. */
  readonly service: string;
  /** The repository that doco-cd made it from; empty without its label. */
  readonly peer: string;
  /** The directory that compose made it in; empty without that label. */
  readonly directory: string;
  /** Whether `compose run` or a job made it: it is of a project, and of no stack. */
  readonly isOneOff: boolean;
  /** Names of its volumes, and host paths of its bind mounts. */
  readonly mounts: readonly string[];
}

const KEEP = members({
  ...short("Id", "Names", "State", "Image"),
  Labels: members(
    short(
      ...[LABELS.deployment, COMPOSE_LABELS.project, COMPOSE_LABELS.service, COMPOSE_LABELS.oneOff],
      ...[COMPOSE_LABELS.number, COMPOSE_LABELS.workingDirectory, PEER_URL],
    ),
  ),
  Mounts: members(short("Name", "Source")),
});

/**
 * Mounts of all containers, by one call. Whoever removes what no container has mounted needs all of
 * them: throws `engine_refused` where another list would leave some out.
 */
export async function containerMounts(
  api: EngineApi,
  signal: AbortSignal,
): Promise<ContainerMounts[]> {
  const request = { method: "GET", path: "/containers/json", query: { all: true } } as const;
  return await api.list(request, {
    isWhole: true,
    keep: KEEP,
    of: (entry) => mountsOf(entry, ownLabels(asTexts(entry["Labels"]))),
  }, signal);
}

function mountsOf(entry: JsonRecord, labels: ObservedContainer["labels"]): ContainerMounts {
  return {
    isOneOff: labels[COMPOSE_LABELS.oneOff]?.toLowerCase() === "true",
    id: asName(entry["Id"], LONGEST_ID),
    name: nameOf(asList(entry["Names"])),
    state: asText(entry["State"]),
    image: asAnyName(entry["Image"]),
    deployment: asAnyName(labels[LABELS.deployment]),
    project: asAnyName(labels[COMPOSE_LABELS.project]),
    service: asAnyName(labels[COMPOSE_LABELS.service]),
    directory: asAnyName(labels[COMPOSE_LABELS.workingDirectory]),
    peer: peerUrl({ [PEER_URL]: asAnyName(labels[PEER_URL]) }),
    mounts: asList(entry["Mounts"]).map(asRecord)
      .map((mount) => asAnyName(mount["Name"]) || asAnyName(mount["Source"])),
  };
}
