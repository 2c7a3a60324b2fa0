import { type ComposeModel, MOST_CONTAINERS } from "../model/mod.ts";
import { replicasOf } from "./expectation.ts";
import { labelsOf, servicesOf } from "./model.ts";

/** Services of one project: what is done for each looks at all others. */
const MOST_SERVICES = 500;
/** Characters of one text; a compose file as a whole may have as many. */
const LONGEST_TEXT = 256 * 1024;
/**
 * Characters of all labels of all containers of one project. An engine lists containers with their
 * labels, of all projects at once: an answer that is too long to be read stops everybody's deployments.
 */
const MOST_LABELS = 8 << 20;
/** Entries of one list or map: a few more than all ports of one protocol. */
const MOST_ENTRIES = 70_000;

/**
 * Why a rendered model is more than one deployment may be, as a sentence without an end; `undefined` when
 * it is not. One line can ask for two billion containers.
 */
export function tooLargeProject(model: ComposeModel): string | undefined {
  const services = Object.entries(servicesOf(model));
  if (services.length > MOST_SERVICES) {
    return `it has ${services.length} services, the most is ${MOST_SERVICES}`;
  }
  const place = tooLargeValue(model, "", 0);
  if (place !== undefined) {
    return `${place} is larger than any program takes: a text may have ${LONGEST_TEXT} characters, a ` +
      `list ${MOST_ENTRIES} entries`;
  }
  let containers = 0;
  let labels = 0;
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
    labels += replicas * labelsLength(labelsOf(service));
  }
  if (containers > MOST_CONTAINERS) {
    return `it asks for ${containers} containers, the most is ${MOST_CONTAINERS}`;
  }
  return tooManyLabels(labels);
}

/** Characters of some labels, with their names. */
export function labelsLength(labels: Readonly<Record<string, string>>): number {
  return Object.entries(labels).reduce((sum, [name, { length }]) => sum + name.length + length, 0);
}

/** Why so many characters of labels on the containers of one project are too many, or `undefined`. */
export function tooManyLabels(length: number): string | undefined {
  if (length <= MOST_LABELS) return undefined;
  return `its containers would have labels of ${length} characters altogether, the most is ` +
    `${MOST_LABELS}`;
}

const LAST_PORT = 65_535;

/** The first of the ports that a service exposes which is none; a range of billions would fill memory. */
function unclearPort(exposed: unknown): string | undefined {
  if (!Array.isArray(exposed)) return undefined;
  return exposed.map(String).find((each) => {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?(?:\/[a-z]+)?$/i.exec(each) ?? [];
    return first === undefined || Number(last) > LAST_PORT || Number(last) < Number(first);
  })?.slice(0, 100);
}

/** Levels that are looked at; no value of a service lies deeper. */
const MOST_LEVELS = 50;

function tooLargeValue(value: unknown, path: string, level: number): string | undefined {
  if (typeof value === "string") return value.length > LONGEST_TEXT ? path : undefined;
  if (typeof value !== "object" || value === null || level > MOST_LEVELS) return undefined;
  const entries = Object.entries(value);
  if (entries.length > MOST_ENTRIES) return path;
  for (const [key, inner] of entries) {
    const name = key.slice(0, 100);
    const found = tooLargeValue(inner, path === "" ? name : `${path}.${name}`, level + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
