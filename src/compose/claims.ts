import {
  COMPOSE_LABELS,
  type ComposeModel,
  type HostPort,
  LABELS,
  MANAGER,
  type ObservedContainer,
  withoutEnd,
} from "../model/mod.ts";
import { isObject, type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "./model.ts";

/** Things that only one container of a host can have, as a service asks for them. */
export interface Claims {
  readonly ports: readonly HostPort[];
  /** Names of containers that their author chose. */
  readonly names: readonly string[];
  /** Fixed addresses, each with the network it is in. */
  readonly addresses: readonly string[];
  /** Whether it uses the host's own network: nobody can say which ports it opens there. */
  readonly hostNetwork: boolean;
  /** Named volumes and paths of the host that it may write to. */
  readonly writes: readonly string[];
}

/** The claims of a service of a rendered model. A range of ports is left to the engine. */
export function claimsOf(model: ComposeModel, name: string): Claims {
  const service: JsonObject = servicesOf(model)[name] ?? {};
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

function addressesOf(model: ComposeModel, service: JsonObject): string[] {
  return Object.entries(objectAt(service, "networks")).flatMap(([key, endpoint]) => {
    if (!isObject(endpoint)) return [];
    const network = textAt(objectAt(objectAt(model, "networks"), key), "name") || key;
    const addresses = [textAt(endpoint, "ipv4_address"), textAt(endpoint, "ipv6_address")];
    return addresses.filter((each) => each !== "").map((each) => `${network} ${each}`);
  });
}

function writtenBy(model: ComposeModel, service: JsonObject): string[] {
  return objectsAt(service, "volumes").flatMap((mount) => {
    const source = textAt(mount, "source");
    if (source === "" || mount["read_only"] === true) return [];
    if (textAt(mount, "type") === "bind") return [withoutEnd(source, "/") || "/"];
    if (textAt(mount, "type") !== "volume") return [];
    return [textAt(objectAt(objectAt(model, "volumes"), source), "name") || source];
  });
}

/**
 * True when what is held must be let go before what is needed can be had. Something both may write
 * to counts: two processes on one set of data can destroy it.
 */
export function claimsClash(held: Claims, needed: Claims): boolean {
  return heldFast(held, needed) ||
    held.writes.some((path) => needed.writes.some((other) => overlap(path, other)));
}

/** The same for what the engine refuses to give to two containers. */
function heldFast(held: Claims, needed: Claims): boolean {
  return held.names.some((name) => needed.names.includes(name)) ||
    held.addresses.some((each) => needed.addresses.includes(each)) ||
    held.ports.some((port) => needed.ports.some((other) => portsClash(port, other))) ||
    (held.hostNetwork && (needed.hostNetwork || needed.ports.length > 0)) ||
    (needed.hostNetwork && held.ports.length > 0);
}

function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/** True when two ports cannot be held by two containers at once. */
export function portsClash(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  const [one, other] = [addressesAt(a.address), addressesAt(b.address)];
  return one.some((each) =>
    other.some((there) =>
      each.family === there.family &&
      (each.is === "any" || there.is === "any" || each.is === there.is)
    )
  );
}

/**
 * What a port is published at: one address of a family, or any; without an address, any of both.
 */
function addressesAt(address: string) {
  const plain = address.replace(/^\[|\]$/g, "").toLowerCase();
  if (plain === "" || plain === "*") return [{ family: 4, is: "any" }, { family: 6, is: "any" }];
  if (plain.includes(":")) return [{ family: 6, is: plain === "::" ? "any" : plain }];
  return [{ family: 4, is: plain === "0.0.0.0" ? "any" : plain }];
}

/**
 * Obstacles to starting services: containers of other projects that hold a port or a name they
 * need. One sentence each.
 */
export function clashes(
  model: ComposeModel,
  services: readonly string[],
  others: readonly ObservedContainer[],
): string[] {
  return services.flatMap((name) => {
    const { ports, names } = claimsOf(model, name);
    return others.flatMap((other) => {
      const held = (other.hostPorts ?? []).find((port) =>
        ports.some((each) => portsClash(each, port))
      );
      const owner = `container ${other.name}${projectText(other)}`;
      const advice = adviceFor(other);
      const port = held &&
        `service ${name} needs port ${held.port}/${held.protocol}, which ${owner} holds${advice}`;
      const taken = names.includes(other.name) &&
        `service ${name} needs the container name ${other.name}, which ${owner} has${advice}`;
      return [port, taken].filter((each): each is string => typeof each === "string");
    });
  });
}

function projectText(container: ObservedContainer): string {
  const project = container.labels[COMPOSE_LABELS.project];
  return project === undefined ? "" : ` of project ${project}`;
}

/** What to do when another stack of ours is in the way, which may be waiting for this one. */
function adviceFor({ labels }: ObservedContainer): string {
  const stack = labels[COMPOSE_LABELS.project];
  if (labels[LABELS.manager] !== MANAGER || stack === undefined) return "";
  return `; it waits until ${stack} lets go, and when ${stack} waits for this stack in turn, ` +
    "give one of them something else for one commit";
}
