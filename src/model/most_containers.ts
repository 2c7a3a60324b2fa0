import { COMPOSE_LABELS } from "./labels.ts";
import type { ObservedStack } from "./observed.ts";

/**
 * Most containers that a project, a run of a job or a person may ask for at once. A kernel bridge
 * has room for little more, and a swarm that is asked for a million tasks stops answering.
 */
export const MOST_CONTAINERS = 1000;

/**
 * Most containers, and services of a swarm without any, that a stack may have on an engine: as many as a
 * project may ask for, those that they replace, and as many that are left of others.
 */
export const MOST_OBSERVED = 3 * MOST_CONTAINERS;
/** Most services that they may be of: twice as many as a project may have, that are active or not. */
export const MOST_OBSERVED_SERVICES = 2000;
/** Characters of the names of these services: as many as all names of a project may have. */
export const LONGEST_OBSERVED_NAMES = 262_144;

/**
 * Why nothing is decided about a stack as it was observed; `undefined` where its size is fine. The engine of
 * another context may tell of any number of containers, of services with names of any length: decisions
 * compare these with each other, and log, ledger and runs have them.
 */
export function beyondObserved(
  name: string,
  { containers, idle = [] }: ObservedStack,
): string | undefined {
  const count = containers.length + idle.length;
  const services = new Set([...containers, ...idle].map(({ service }) => service));
  const length = [...services].reduce((sum, service) => sum + service.length, 0);
  const found = count > MOST_OBSERVED
    ? `${count} containers or services, and the most that are looked at is ${MOST_OBSERVED}`
    : services.size > MOST_OBSERVED_SERVICES
    ? `containers of ${services.size} services, and the most is ${MOST_OBSERVED_SERVICES}`
    : length > LONGEST_OBSERVED_NAMES
    ? `services whose names have ${length} characters, and the most is ${LONGEST_OBSERVED_NAMES}`
    : undefined;
  return found && beyond(name, found, `docker ps -a --filter label=${COMPOSE_LABELS.project}`);
}

/**
 * As {@link beyondObserved}, of all things of one kind under a stack's name, by the label that has it:
 * containers of single runs are no part of a stack, and go with it, each by calls of its own.
 */
export function beyondThings(
  name: string,
  { kind, label, count }: {
    readonly kind: "container" | "network" | "secret" | "service" | "config" | "volume";
    readonly label: string;
    readonly count: number;
  },
): string | undefined {
  if (count <= MOST_OBSERVED) return undefined;
  const found = `${count} ${kind}s, and the most that are looked at is ${MOST_OBSERVED}`;
  const all = kind === "container" ? " -a" : "";
  return beyond(name, found, `docker ${kind} ls${all} --filter label=${label}`);
}

function beyond(name: string, found: string, lists: string): string {
  return `stack ${name} has ${found}, says its engine: nothing is decided about it. Remove what ` +
    `nobody needs: ${lists}=${name}`;
}
