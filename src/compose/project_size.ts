import { Buffer } from "node:buffer";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  clip,
  type ComposeModel,
  MOST_CONTAINERS,
} from "../model/mod.ts";
import { replicasOf } from "./expectation.ts";
import { beyondBounds } from "./model_bounds.ts";
import { isObject, type JsonObject, labelsOf, objectAt, objectsAt, servicesOf } from "./model.ts";
import { RESOURCE_KINDS, resourceUses } from "./resource_uses.ts";
import { volumesFrom } from "./volumes_from.ts";

/**
 * Most characters of one project in the engine's list of containers. The engine lists all projects
 * at once, with labels, commands, mounts and ports: a list too long to read blocks all deployments.
 */
const MOST_LISTED = 4 << 20;
/**
 * Most characters of the labels of one container, with those of its image. Each of its events
 * repeats them, and a stream of events that are too long ends for all stacks.
 */
const MOST_LABELS = 64 << 10;
/**
 * Most characters of what services have besides their own definitions, counted for each use: networks,
 * volumes, configs and secrets are digested with every service, a swarm gets a volume's definition with
 * every mount, and each build gets the arguments of its deployment.
 */
const MOST_NAMED = 16 << 20;
/** The keys of a service that appear in this list, besides ports. */
const LISTED = [
  "annotations",
  "command",
  "configs",
  "container_name",
  "depends_on",
  "entrypoint",
  "external_links",
  "image",
  "labels",
  "links",
  "networks",
  "secrets",
  "volumes",
] as const;
/** Characters of any container in this list, and of each port. */
const LISTED_ANYWAY = 1500;
const LISTED_PORT = { exposed: 40, published: 140 } as const;

/**
 * Why a rendered model is too large to deploy, as a sentence without an end, if it is. A single line
 * can request two billion containers. A swarm lists each task with its service's whole definition.
 */
export function tooLargeProject(
  model: ComposeModel,
  { isStack = false, buildArguments = {} }: {
    readonly isStack?: boolean;
    /** Arguments that every build gets besides its own. */
    readonly buildArguments?: Readonly<Record<string, string>>;
  } = {},
): string | undefined {
  const beyond = beyondBounds(model);
  if (beyond !== undefined) return beyond;
  const services = Object.entries(servicesOf(model));
  const lengths = listedLengths(model);
  let containers = 0;
  let listed = 0;
  for (const [name, service] of services) {
    const replicas = replicasOf(service);
    if (!Number.isInteger(replicas) || replicas < 0) {
      return `service ${name}: the number of its containers is no whole number from 0`;
    }
    const exposed = unclearPort(service["expose"]);
    if (exposed !== undefined) {
      return `service ${name}: expose: ${JSON.stringify(exposed)} is no port or range of ports`;
    }
    const labels = isStack || replicas > 0 ? tooLongLabels(name, labelsLength(service)) : undefined;
    if (labels !== undefined) return labels;
    containers += replicas;
    listed += isStack
      // The service itself is listed as well, also one without tasks.
      ? (1 + Math.max(replicas, tasksOfRun(service))) * lengthOf(service)
      : replicas * (lengths.get(name) ?? 0);
  }
  const ranges = tooLongRanges(services);
  if (ranges !== undefined) return ranges;
  if (containers > MOST_CONTAINERS) {
    return `it asks for ${containers} containers, the most is ${MOST_CONTAINERS}`;
  }
  return tooLongList(listed) ?? tooMuchNamed(model, lengthOf(buildArguments));
}

function tooMuchNamed(model: ComposeModel, ofEachBuild: number): string | undefined {
  const builds = Object.values(servicesOf(model)).filter((each) => isObject(each["build"])).length;
  let named = builds * ofEachBuild;
  for (const kind of RESOURCE_KINDS) {
    const defined = Object.entries(objectAt(model, kind));
    const lengths = new Map(defined.map(([key, value]) => [key, lengthOf(value)]));
    for (const service of Object.values(servicesOf(model))) {
      const ofBuild = kind === "secrets" ? resourceUses(objectAt(service, "build"), kind) : [];
      for (const key of [...resourceUses(service, kind), ...ofBuild]) {
        named += lengths.get(key) ?? 0;
      }
    }
  }
  return named <= MOST_NAMED
    ? undefined
    : `its services name networks, volumes, configs, secrets and build.args of ${named} characters ` +
      `(each counts for each use), the most is ${MOST_NAMED}`;
}

/** Number of simultaneous tasks of a job's one-off run, besides those of its service. */
function tasksOfRun(service: JsonObject): number {
  return Number(behaviourLabel(labelsOf(service), BEHAVIOUR_LABELS.jobSwarmReplicas)) || 0;
}

/**
 * Characters of one container of each service in the engine's list, without those from images and
 * from other containers. Mounts inherited from other services count as its own.
 */
export function listedLengths(model: ComposeModel): ReadonlyMap<string, number> {
  const services = Object.entries(servicesOf(model));
  const mounts = new Map(services.map(([name, each]) => [name, lengthOf(each["volumes"])]));
  const others = volumesFrom(model);
  return new Map(services.map(([name, service]) => {
    const from = [...others.get(name)?.services ?? []];
    return [name, from.reduce((sum, each) => sum + (mounts.get(each) ?? 0), listedLength(service))];
  }));
}

/** Characters of each container's labels, without those of its image. */
export function labelsLength(service: JsonObject): number {
  // Compose labels a container with what it depends on; those below `deploy` are a swarm's.
  return lengthOf(service["labels"]) + lengthOf(service["depends_on"]) +
    lengthOf(objectAt(service, "deploy")["labels"]);
}

/** Why the labels of a service's containers are too long; `undefined` if they are not. */
export function tooLongLabels(service: string, length: number): string | undefined {
  if (length <= MOST_LABELS) return undefined;
  return `service ${service}: each container has labels of ${length} characters (with what it ` +
    `depends on), the most is ${MOST_LABELS}`;
}

/** Bytes of a value as an engine writes it: six for each character that Go escapes. */
function lengthOf(value: unknown): number {
  if (value === undefined) return 0;
  const text = JSON.stringify(value);
  return Buffer.byteLength(text) + 5 * (text.match(/[<>&]/g)?.length ?? 0) +
    3 * (text.match(/[\u2028\u2029]/g)?.length ?? 0);
}

function listedLength(service: JsonObject): number {
  const told = LISTED.map((key) => lengthOf(service[key]));
  const published = Array.isArray(service["ports"]) ? service["ports"].length : 0;
  const ports = published * LISTED_PORT.published + exposedPorts(service) * LISTED_PORT.exposed;
  return told.reduce((sum, each) => sum + each, LISTED_ANYWAY + ports);
}

/** Why a project's part of the list of containers is too long; `undefined` if it is not. */
export function tooLongList(length: number): string | undefined {
  if (length <= MOST_LISTED) return undefined;
  return `an engine would list its containers with ${length} characters (labels, commands, mounts, ` +
    `ports), the most is ${MOST_LISTED}`;
}

const LAST_PORT = 65_535;

/** The first exposed port that is invalid: a range of billions would fill the memory. */
function unclearPort(exposed: unknown): string | undefined {
  if (!Array.isArray(exposed)) return undefined;
  const unclear = exposed.map(String).find((each) => portsIn(each) === undefined);
  return unclear === undefined ? undefined : clip(unclear, 100);
}

/** Ports of the host in ranges, out of which the engine chooses; other stacks are asked about each of them. */
const MOST_IN_RANGES = 4096;

function tooLongRanges(services: readonly (readonly [string, JsonObject])[]): string | undefined {
  let sum = 0;
  for (const [name, service] of services) {
    for (const { published } of objectsAt(service, "ports")) {
      const range = String(published ?? "");
      if (!range.includes("-")) continue;
      sum += portsIn(range) ?? Infinity;
      if (sum <= MOST_IN_RANGES) continue;
      return `service ${name}: ports: with ${
        JSON.stringify(clip(range, 100))
      }, ranges of the host's ports ` +
        `have no number up to ${MOST_IN_RANGES}, which is the most for all services`;
    }
  }
  return undefined;
}

function exposedPorts({ expose }: JsonObject): number {
  if (!Array.isArray(expose)) return 0;
  return expose.reduce((sum: number, each) => sum + (portsIn(String(each)) ?? 0), 0);
}

/** The number of ports in a text such as `80`, `80/udp` or `80-90`; `undefined` for others. */
function portsIn(text: string): number | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?(?:\/[a-z]+)?$/i.exec(text) ?? [];
  if (first === undefined || Number(last) > LAST_PORT) return undefined;
  const count = Number(last) - Number(first) + 1;
  return count > 0 ? count : undefined;
}
