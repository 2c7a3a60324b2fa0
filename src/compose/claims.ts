import {
  COMPOSE_LABELS,
  type ComposeModel,
  type HostPort,
  isOurs,
  type ObservedContainer,
  withoutEnd,
} from "../model/mod.ts";
import { spelledOnce } from "../system/mod.ts";
import { ASIDE, containerName } from "./built_names.ts";
import { type Claims, portHolders } from "./clashing.ts";
import { isObject, type JsonObject, objectAt, objectsAt, serviceOf, textAt } from "./model.ts";
import { resourceName } from "./resources.ts";

/** The claims of a service in a rendered model, without ranges of ports: the engine chooses. */
export function claimsOf(model: ComposeModel, name: string): Claims {
  const service: JsonObject = serviceOf(model, name);
  const container = textAt(service, "container_name");
  const ports = objectsAt(service, "ports").flatMap((port) => {
    const published = Number(port["published"]);
    if (!Number.isInteger(published) || published === 0) return [];
    const protocol = textAt(port, "protocol") || "tcp";
    return [{ address: textAt(port, "host_ip"), port: published, protocol }];
  });
  return {
    ports,
    names: container === "" ? [] : [container],
    addresses: addressesOf(model, service),
    hostNetwork: textAt(service, "network_mode") === "host",
    writes: writtenBy(model, service),
  };
}

/**
 * The ports of the host out of which the engine chooses one for each container of a service: ranges with more than
 * one, of which none has more than a deployed project may have.
 */
export function rangesOf(model: ComposeModel, name: string): HostPort[][] {
  return objectsAt(serviceOf(model, name), "ports").flatMap((port) => {
    const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(String(port["published"] ?? "")) ?? [];
    const length = Number(last) - Number(first) + 1;
    if (!(length > 1)) return [];
    const [address, protocol] = [textAt(port, "host_ip"), textAt(port, "protocol") || "tcp"];
    const at = (_: unknown, index: number) => ({ address, port: Number(first) + index, protocol });
    return [Array.from({ length }, at)];
  });
}

function addressesOf(model: ComposeModel, service: JsonObject): string[] {
  return Object.entries(objectAt(service, "networks")).flatMap(([key, endpoint]) => {
    if (!isObject(endpoint)) return [];
    const network = resourceName(model, "networks", key);
    const addresses = [textAt(endpoint, "ipv4_address"), textAt(endpoint, "ipv6_address")];
    return addresses.filter((each) => each !== "").map((each) => addressAt(network, each));
  });
}

/** The form in which fixed addresses are compared, with the network's name. */
export function addressAt(network: string, address: string): string {
  return `${network} ${spelledOnce(address) ?? address}`;
}

function writtenBy(model: ComposeModel, service: JsonObject): string[] {
  return objectsAt(service, "volumes").flatMap((mount) => {
    const source = textAt(mount, "source");
    if (source === "" || mount["read_only"] === true) return [];
    if (textAt(mount, "type") === "bind") return [withoutEnd(source, "/") || "/"];
    if (textAt(mount, "type") !== "volume") return [];
    return [resourceName(model, "volumes", source)];
  });
}

/** The names of a service's containers, which has that many. */
export function containerNames(model: ComposeModel, service: string, replicas: number): string[] {
  return Array.from({ length: replicas }, (_, at) => containerName(model, service, at + 1));
}

/** How many containers a service has, which get their names, and how many of those are started, which need their ports. */
export interface Counts {
  readonly named: number;
  readonly started: number;
}

/**
 * Obstacles to starting services, by default with one container each: containers of others, or left ones,
 * with a port or name of theirs, or with so much of a range that too little of it is free.
 */
export function clashes(
  model: ComposeModel,
  services: readonly string[],
  others: readonly ObservedContainer[],
  counts: (service: string) => Counts = () => ({ named: 1, started: 1 }),
): string[] {
  const holdersOf = portHolders(others);
  const namesOf = Map.groupBy(others, (each) => nameFor(model, each));
  const found: string[] = [];
  for (const name of services) {
    if (found.length >= MOST_TOLD) break;
    const { named, started } = counts(name);
    const ports = started === 0 ? [] : claimsOf(model, name).ports;
    const needs = (what: string, other: ObservedContainer, verb: string) =>
      `service ${name} needs ${what}, which container ${other.name}${projectText(other)} ${verb}` +
      adviceFor(model, other, verb);
    for (const [other, { port, protocol }] of holdersOf(ports)) {
      if (found.length < MOST_TOLD) found.push(needs(`port ${port}/${protocol}`, other, "holds"));
    }
    for (const { ports, free, other } of shortRanges(rangesOf(model, name), started, holdersOf)) {
      const what = `${started} of the ports ${ports} (free: ${free})`;
      if (found.length < MOST_TOLD) found.push(needs(what, other, "holds"));
    }
    for (const wanted of containerNames(model, name, named)) {
      for (const other of (namesOf.get(wanted) ?? []).slice(0, MOST_TOLD - found.length)) {
        found.push(needs(`the container name ${wanted}`, other, "has"));
      }
    }
  }
  return found;
}

/** Ranges of which others have so much that less is free than is wanted, each with who has the first one. */
function shortRanges(
  ranges: readonly (readonly HostPort[])[],
  wanted: number,
  holdersOf: ReturnType<typeof portHolders<ObservedContainer>>,
) {
  return ranges.flatMap((range) => {
    const held = range.flatMap((each) => [...holdersOf([each]).keys()].slice(0, 1));
    const [[first], [other], free] = [range, held, range.length - held.length];
    if (first === undefined || other === undefined || free >= wanted) return [];
    const { port, protocol } = first;
    return [{ ports: `${port}-${port + range.length - 1}/${protocol}`, free, other }];
  });
}

/**
 * The name that a container has, or that it left for the moment and its successor gets: while another
 * stack replaces a container nobody has that name, and whoever took it would keep the stack from it.
 */
function nameFor(model: ComposeModel, { name, labels }: ObservedContainer): string {
  return labels[COMPOSE_LABELS.project] === model["name"] ? name : name.replace(ASIDE, "");
}

/** Clashes that are told: each of 500 services may clash with each of 50,000 containers. */
const MOST_TOLD = 20;

function projectText(container: ObservedContainer): string {
  const project = container.labels[COMPOSE_LABELS.project];
  return project === undefined ? "" : ` of project ${project}`;
}

/**
 * Advice when another stack of ours is in the way, which may in turn wait for this one, or what is left
 * alone of the stack itself.
 */
function adviceFor(model: ComposeModel, { name, labels }: ObservedContainer, verb: string): string {
  const stack = labels[COMPOSE_LABELS.project];
  if (stack !== undefined && stack === model["name"]) {
    // Removed, it would not tell any more where its data is, which another service may get.
    const how = verb === "holds"
      ? `stop it for good (docker update --restart no ${name}; docker stop ${name})`
      : `rename it (docker rename ${name} ${name}-old)`;
    return "; it is of this very stack, but Stackwright did not make it and leaves it alone: where the " +
      `service takes its place, ${how}`;
  }
  if (!isOurs({ labels }) || stack === undefined) return "";
  return `; give one of them something else, or it waits until ${stack} lets go: when ${stack} waits ` +
    "for this stack in turn, only that helps, for one commit";
}
