import type { ObservedContainer } from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import { labelsRead, withoutTasks } from "./containers.ts";
import { members, short } from "./kept_parts.ts";
import { OBSERVED, observedContainer } from "./observed_container.ts";
import type { LabelFilter } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asList, asNumber, asRecord, asTime, type JsonRecord } from "./json.ts";
import { asName, asShown } from "./told.ts";

/** A port of a container, and its published port on the host. */
interface ContainerPort {
  /** Address on the host; empty for an unpublished port. */
  readonly address: string;
  readonly targetPort: number;
  /** 0 for an unpublished port. */
  readonly publishedPort: number;
  readonly protocol: string;
}

/** A container for a list that people read; without environment and arguments. */
export interface ContainerSummary extends ObservedContainer {
  /** The program, without arguments, which may hold secrets. */
  readonly program: string;
  /** Reference of the image. */
  readonly image: string;
  readonly createdAt: Date;
  /** The engine's sentence: `Up 2 hours (healthy)`. */
  readonly status: string;
  readonly ports: readonly ContainerPort[];
  /** Names of its volumes, and host paths of its bind mounts. */
  readonly mounts: readonly string[];
  /** Number of mounted volumes with the driver `local`. */
  readonly localVolumes: number;
}

/**
 * Containers in any state with all `labels`, with all fields of a list, by one call. Of a compose
 * project without the tasks of a swarm, as {@link withoutTasks} tells them apart.
 */
export async function describeContainers(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<ContainerSummary[]> {
  const query = { all: true, ...labelFilters(labels) };
  const read = labelsRead(labels);
  const shape = { keep: DESCRIBED, of: (entry: JsonRecord) => summary(entry, read) };
  const request = { method: "GET", path: "/containers/json", query } as const;
  return withoutTasks(await api.list(request, shape, signal), labels);
}

const DESCRIBED = members({
  ...OBSERVED,
  ...short("Command", "Image", "Created"),
  Ports: members(short("IP", "PrivatePort", "PublicPort", "Type")),
  Mounts: members(short("Name", "Source", "Type", "Driver")),
});

function summary(entry: JsonRecord, readLabels: ReturnType<typeof labelsRead>): ContainerSummary {
  const mounts = asList(entry["Mounts"]).map(asRecord);
  return {
    ...observedContainer(entry, readLabels),
    program: /^"?([^\s"]*)/.exec(asShown(entry["Command"]))?.[1] ?? "",
    image: asName(entry["Image"]),
    createdAt: asTime((asNumber(entry["Created"]) ?? 0) * 1000),
    status: asShown(entry["Status"]),
    ports: asList(entry["Ports"]).map((port) => containerPort(asRecord(port))),
    mounts: mounts.map((mount) => asName(mount["Name"]) || asName(mount["Source"])).sort(),
    localVolumes:
      mounts.filter((mount) => mount["Type"] === "volume" && mount["Driver"] === "local").length,
  };
}

function containerPort(port: JsonRecord): ContainerPort {
  return {
    address: asName(port["IP"]),
    targetPort: asNumber(port["PrivatePort"]) ?? 0,
    publishedPort: asNumber(port["PublicPort"]) ?? 0,
    protocol: asName(port["Type"]),
  };
}
