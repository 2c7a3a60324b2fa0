import type { ObservedContainer } from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import { OBSERVED, observedContainer } from "./observed_container.ts";
import type { LabelFilter } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asList, asNumber, asRecord, asText, type JsonRecord } from "./json.ts";

/** A port of a container, and where the host offers it. */
interface ContainerPort {
  /** Address of the host; empty when it is not published. */
  readonly address: string;
  readonly targetPort: number;
  /** 0 when it is not published. */
  readonly publishedPort: number;
  readonly protocol: string;
}

/** A container as people want to see it in a list; no environment, no arguments. */
export interface ContainerSummary extends ObservedContainer {
  /** What it runs, without arguments: those may hold secrets. */
  readonly program: string;
  /** Reference of its image. */
  readonly image: string;
  readonly createdAt: Date;
  /** The engine's sentence: `Up 2 hours (healthy)`. */
  readonly status: string;
  readonly ports: readonly ContainerPort[];
  /** Names of its volumes; of a mounted path, the path on the host. */
  readonly mounts: readonly string[];
  /** Number of volumes of the engine itself that it mounts. */
  readonly localVolumes: number;
}

/** Containers in any state that carry all `labels`, with all that a list shows, by one call. */
export async function describeContainers(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<ContainerSummary[]> {
  const query = { all: true, ...labelFilters(labels) };
  const shape = { keep: [...OBSERVED, "Command", "Image", "Created", "Mounts"], of: summary };
  return await api.list({ method: "GET", path: "/containers/json", query }, shape, signal);
}

function summary(entry: JsonRecord): ContainerSummary {
  const mounts = asList(entry["Mounts"]).map(asRecord);
  return {
    ...observedContainer(entry),
    program: /^"?([^\s"]*)/.exec(asText(entry["Command"]))?.[1] ?? "",
    image: asText(entry["Image"]),
    createdAt: new Date((asNumber(entry["Created"]) ?? 0) * 1000),
    status: asText(entry["Status"]),
    ports: asList(entry["Ports"]).map((port) => containerPort(asRecord(port))),
    mounts: mounts.map((mount) => asText(mount["Name"]) || asText(mount["Source"])).sort(),
    localVolumes:
      mounts.filter((mount) => mount["Type"] === "volume" && mount["Driver"] === "local").length,
  };
}

function containerPort(port: JsonRecord): ContainerPort {
  return {
    address: asText(port["IP"]),
    targetPort: asNumber(port["PrivatePort"]) ?? 0,
    publishedPort: asNumber(port["PublicPort"]) ?? 0,
    protocol: asText(port["Type"]),
  };
}
