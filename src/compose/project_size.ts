import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  MOST_CONTAINERS,
} from "../model/mod.ts";
import { replicasOf } from "./expectation.ts";
import { beyondBounds } from "./model_bounds.ts";
import { type JsonObject, labelsOf, servicesOf } from "./model.ts";
import { volumesFrom } from "./volumes_from.ts";

/**
 * Characters with which an engine may list all containers of one project. It lists those of all
 * projects at once, with their labels, commands, mounts and ports: an answer that is too long to be
 * read stops everybody's deployments.
 */
const MOST_LISTED = 4 << 20;
/** The keys of a service that such a list tells of, besides its ports. */
const LISTED = [
  "annotations",
  "command",
  "configs",
  "container_name",
  "entrypoint",
  "external_links",
  "image",
  "labels",
  "links",
  "networks",
  "secrets",
  "volumes",
] as const;
/** What it tells of any container, and of each port. */
const LISTED_ANYWAY = 1500;
const LISTED_PORT = { exposed: 40, published: 140 } as const;

/**
 * The reason why a rendered model is more than one deployment may be, as a sentence without an end;
 * `undefined` when it is not. One line can ask for two billion containers. A swarm lists each task
 * with all that its service says.
 */
export function tooLargeProject(
  model: ComposeModel,
  { isStack = false }: { readonly isStack?: boolean } = {},
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
    containers += replicas;
    listed += isStack
      ? Math.max(replicas, tasksOfRun(service)) * JSON.stringify(service).length
      : replicas * (lengths.get(name) ?? 0);
  }
  if (containers > MOST_CONTAINERS) {
    return `it asks for ${containers} containers, the most is ${MOST_CONTAINERS}`;
  }
  return tooLongList(listed);
}

/** Number of tasks that a one-off run of a job has at once, beside those of its own service. */
function tasksOfRun(service: JsonObject): number {
  return Number(behaviourLabel(labelsOf(service), BEHAVIOUR_LABELS.jobSwarmReplicas)) || 0;
}

/**
 * Characters with which an engine lists one container of each service, but for what images add and
 * containers of others. It lists what a container mounts because another one does like its own.
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

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

function listedLength(service: JsonObject): number {
  const told = LISTED.map((key) => lengthOf(service[key]));
  const published = Array.isArray(service["ports"]) ? service["ports"].length : 0;
  const ports = published * LISTED_PORT.published + exposedPorts(service) * LISTED_PORT.exposed;
  return told.reduce((sum, each) => sum + each, LISTED_ANYWAY + ports);
}

/** The reason why a list of so many characters for one project's containers is too long, if it is. */
export function tooLongList(length: number): string | undefined {
  if (length <= MOST_LISTED) return undefined;
  return `an engine would list its containers with ${length} characters (labels, commands, mounts, ` +
    `ports), the most is ${MOST_LISTED}`;
}

const LAST_PORT = 65_535;

/** The first of the ports that a service exposes which is none; a range of billions would fill memory. */
function unclearPort(exposed: unknown): string | undefined {
  if (!Array.isArray(exposed)) return undefined;
  return exposed.map(String).find((each) => portsIn(each) === undefined)?.slice(0, 100);
}

function exposedPorts({ expose }: JsonObject): number {
  if (!Array.isArray(expose)) return 0;
  return expose.reduce((sum: number, each) => sum + (portsIn(String(each)) ?? 0), 0);
}

/** The number of ports that a text such as `80`, `80/udp` or `80-90` means; `undefined` for none. */
function portsIn(text: string): number | undefined {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?(?:\/[a-z]+)?$/i.exec(text) ?? [];
  if (first === undefined || Number(last) > LAST_PORT) return undefined;
  const count = Number(last) - Number(first) + 1;
  return count > 0 ? count : undefined;
}
