import {
  COMPOSE_LABELS,
  type HostPort,
  type ObservedBind,
  type ObservedContainer,
  sharedContainer,
  SWARM_TASK,
} from "../model/mod.ts";
import { asList, asNumber, asRecord, asText, asTexts, type Json, type JsonRecord } from "./json.ts";
import type { EntryReading } from "./answer.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { everybodys, isEverybodys } from "./filters.ts";
import { anyMembers, FEW_LABELS, members, type Part, short, USED_LABELS } from "./kept_parts.ts";
import { asAnyName, asFewLabels, asLabels, asName, LONGEST_ID, LONGEST_NAME } from "./told.ts";
import { parseContainerStatus } from "./status.ts";

/** Members of an entry in the list of containers that {@link observedContainer} reads, besides labels. */
const OBSERVED = {
  ...short("Id", "Names", "State", "Status", "ImageID"),
  // Images may expose any number of ports that are not published.
  Ports: members(short("IP", "PublicPort", "Type"), "PublicPort"),
  NetworkSettings: members({
    Networks: anyMembers(members({
      ...short("NetworkID"),
      IPAMConfig: members(short("IPv4Address", "IPv6Address")),
    })),
  }),
} as const;

/**
 * The reading of a list of containers that was asked for by `filter`. A project's own labels are as many
 * as its author is allowed; and it has no tasks of a swarm, whose images may name any project, and nothing
 * without a {@link hasPlace}, but where the filter asks for compose's version, too, as for hooks. All of
 * somebody's are told or the call fails. `of` reads further members `more`.
 */
export function readingContainers<T>(
  filter: LabelFilter,
  more: Readonly<Record<string, Part>>,
  of: (entry: JsonRecord, read: (entry: JsonRecord) => ObservedContainer) => T | undefined,
): EntryReading<T> {
  const isOwn = filter[COMPOSE_LABELS.project] !== undefined;
  const isOfProjects = COMPOSE_LABELS.project in filter;
  const hasHooks = COMPOSE_LABELS.version in filter;
  const [kept, asThose] = isOwn ? [USED_LABELS, asLabels] : [FEW_LABELS, asFewLabels];
  const read = hasHooks ? asThose : (value: Json | undefined) => ownLabels(asThose(value));
  const isOthers = (labels: Readonly<Record<string, string>>) =>
    isSwarmTask({ labels }) ||
    !hasHooks && labels[COMPOSE_LABELS.project] !== undefined && !hasPlace({ labels });
  return {
    keep: members({ ...OBSERVED, Labels: kept, ...more }),
    of: (entry) =>
      isOfProjects && isOthers(asTexts(entry["Labels"]))
        ? undefined
        : of(entry, (each) => observedContainer(each, read)),
    ...everybodys(filter, (entry) => entry["Labels"]),
    isWhole: !isEverybodys(filter),
  };
}

/**
 * Whether a swarm made this container: then it belongs to a service and to no compose project, even
 * if its image carries a project's labels.
 */
export function isSwarmTask({ labels }: Pick<ObservedContainer, "labels">): boolean {
  return (labels[SWARM_TASK] ?? "") !== "";
}

/**
 * Whether a container has what compose gives to those of services and single runs alone: a number, or the
 * word on whether it runs once. Images that compose builds have its other labels, and so has whatever is
 * made from one; compose itself does not take that for a part of the project either.
 */
export function hasPlace({ labels }: Pick<ObservedContainer, "labels">): boolean {
  return labels[COMPOSE_LABELS.number] !== undefined || labels[COMPOSE_LABELS.oneOff] !== undefined;
}

/**
 * The labels of a container; without those of a compose project and its service where it has no place
 * there, see {@link hasPlace}: it would be stopped with the project, and removed with its data.
 */
export function ownLabels(labels: ObservedContainer["labels"]): ObservedContainer["labels"] {
  if (labels[COMPOSE_LABELS.project] === undefined || hasPlace({ labels })) return labels;
  const { [COMPOSE_LABELS.project]: _project, [COMPOSE_LABELS.service]: _service, ...rest } =
    labels;
  return rest;
}

/** A container from its entry in the engine's list; its labels are read by `readLabels`. */
export function observedContainer(
  entry: JsonRecord,
  readLabels: (value: Json | undefined) => ObservedContainer["labels"] = (value) =>
    ownLabels(asLabels(value)),
): ObservedContainer {
  const labels = readLabels(entry["Labels"]);
  return {
    id: asName(entry["Id"], LONGEST_ID),
    name: nameOf(asList(entry["Names"])),
    service: labels[COMPOSE_LABELS.service] ?? "",
    ...parseContainerStatus(asText(entry["State"]), asText(entry["Status"])),
    imageId: asAnyName(entry["ImageID"]),
    labels,
    hostPorts: asList(entry["Ports"]).map(asRecord).flatMap((port) => {
      const published = asNumber(port["PublicPort"]);
      if (published === undefined) return [];
      return [{
        address: asAnyName(port["IP"]),
        port: published,
        protocol: asAnyName(port["Type"]),
      }];
    }),
    ...networksOf(entry),
  };
}

/** The networks of a container; one that was never started has no ids of networks yet. */
export function networksOf(
  answer: JsonRecord,
):
  & Required<Pick<ObservedContainer, "networkIds" | "networkNames">>
  & Pick<ObservedContainer, "fixedAddresses"> {
  const networks = asRecord(asRecord(answer["NetworkSettings"])["Networks"]);
  const ids = Object.values(networks).map((each) => asAnyName(asRecord(each)["NetworkID"]));
  const fixedAddresses = Object.entries(networks).flatMap(([name, each]) => {
    const { IPv4Address, IPv6Address } = asRecord(asRecord(each)["IPAMConfig"]);
    const fixed = [IPv4Address, IPv6Address].map(asAnyName).filter((address) => address !== "");
    return fixed.map((address) => ({ network: asAnyName(name), address }));
  });
  return {
    networkIds: ids.filter((id) => id !== ""),
    networkNames: Object.keys(networks).map(asAnyName).sort(),
    ...(fixedAddresses.length > 0 ? { fixedAddresses } : {}),
  };
}

/** The container's own name: names of legacy links contain a second slash. */
export function nameOf(names: readonly Json[]): string {
  const own = names.find((name) => !asText(name).slice(1).includes("/")) ?? names[0];
  return asAnyName(own === false ? own : asText(own).replace(/^\//, ""));
}

/** The member of an entry that {@link joinsOf} reads. */
export const JOINS = { HostConfig: members(short("NetworkMode")) };

/** The container whose network a container shares, by its entry in the engine's list. */
export function joinsOf(entry: JsonRecord): Pick<ObservedContainer, "joins"> {
  const joins = sharedContainer(asAnyName(asRecord(entry["HostConfig"])["NetworkMode"]));
  return joins === undefined ? {} : { joins };
}

/** The member of an entry that {@link bindsOf} reads. */
export const BINDS = { Mounts: members(short("Type", "Source", "Destination", "RW")) };

/**
 * What a container mounts from the host, by its entry in the engine's list. Of a volume, the list of
 * every engine leaves the source empty until the container has started; that of a bind is always there.
 * Paths that are longer than the kernel takes are left out: a container with one is listed, but cannot run.
 */
export function bindsOf(entry: JsonRecord): ObservedBind[] {
  const binds = asList(entry["Mounts"]).map(asRecord).filter((each) => each["Type"] === "bind");
  return binds.map((each) => ({
    source: asText(each["Source"]),
    destination: asText(each["Destination"]),
    writable: each["RW"] !== false,
  })).filter((each) => Math.max(each.source.length, each.destination.length) <= LONGEST_NAME);
}

/** The published ports in `{"80/tcp": [{HostIp, HostPort}]}`. */
export function boundPorts(ports: JsonRecord): HostPort[] {
  return Object.entries(ports).flatMap(([key, places]) =>
    asList(places).map(asRecord).map((place) => ({
      address: asAnyName(place["HostIp"]),
      port: Number(asText(place["HostPort"])),
      protocol: asAnyName(key).split("/")[1] ?? "tcp",
    }))
  );
}
