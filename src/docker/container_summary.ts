import type { ObservedContainer } from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import { madeByCompose } from "./made_by_compose.ts";
import { IMAGE_LABELS, members, short, SHOWN_LABELS } from "./kept_parts.ts";
import { readingContainers } from "./observed_container.ts";
import type { LabelFilter } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asList, asNumber, asRecord, asText, asTime, type JsonRecord } from "./json.ts";
import type { ServicePort } from "./swarm.ts";
import { asAnyName, asShown } from "./told.ts";

/** A port of a container, and its published port on the host. */
interface ContainerPort extends Omit<ServicePort, "mode"> {
  /** Address on the host; empty for an unpublished port. */
  readonly address: string;
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

/** Containers in any state with all `labels`; of a compose project without a swarm's tasks. */
export async function describeContainers(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<readonly ContainerSummary[]> {
  const query = { all: true, ...labelFilters(labels) };
  const request = { method: "GET", path: "/containers/json", query } as const;
  const listed = await api.list(request, readingContainers(labels, DESCRIBED, summary), signal);
  return await madeByCompose(api, labels, listed, signal);
}

const DESCRIBED = {
  Labels: SHOWN_LABELS,
  ...short("Command", "Image", "Created"),
  Ports: members(short("IP", "PrivatePort", "PublicPort", "Type")),
  Mounts: members(short("Name", "Source", "Type", "Driver")),
};

function summary(
  entry: JsonRecord,
  read: (entry: JsonRecord) => ObservedContainer,
): ContainerSummary {
  const mounts = asList(entry["Mounts"]).map(asRecord);
  const [Labels, ofImage] = withoutImages(asRecord(entry["Labels"]));
  const observed = read({ ...entry, Labels });
  return {
    ...observed,
    labels: { ...observed.labels, ...ofImage },
    program: /^"?([^\s"]*)/.exec(asShown(entry["Command"]))?.[1] ?? "",
    image: asAnyName(entry["Image"]),
    createdAt: asTime((asNumber(entry["Created"]) ?? 0) * 1000),
    status: asShown(entry["Status"]),
    ports: asList(entry["Ports"]).map((port) => containerPort(asRecord(port))),
    mounts: mounts.map((mount) => asAnyName(mount["Name"]) || asAnyName(mount["Source"])).sort(),
    localVolumes:
      mounts.filter((mount) => mount["Type"] === "volume" && mount["Driver"] === "local").length,
  };
}

/** Characters of labels of its image that are told of a container: images have any. */
const MOST_OF_IMAGE = 2048;

/** Labels without those of the image, and these, as many as are told. */
function withoutImages(labels: JsonRecord): [JsonRecord, Record<string, string>] {
  const rest = { ...labels };
  const ofImage: Record<string, string> = {};
  let length = 0;
  for (const name of IMAGE_LABELS) {
    const text = asText(rest[name]);
    delete rest[name];
    const longer = length + name.length + text.length;
    if (text === "" || longer > MOST_OF_IMAGE) continue;
    [ofImage[name], length] = [text, longer];
  }
  return [rest, ofImage];
}

function containerPort(port: JsonRecord): ContainerPort {
  return {
    address: asAnyName(port["IP"]),
    targetPort: asNumber(port["PrivatePort"]) ?? 0,
    publishedPort: asNumber(port["PublicPort"]) ?? 0,
    protocol: asAnyName(port["Type"]),
  };
}
