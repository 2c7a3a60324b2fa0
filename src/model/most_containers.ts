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
  return found &&
    `stack ${name} has ${found}, says its engine: nothing is decided about it. Remove what ` +
      `nobody needs: docker ps -a --filter label=com.docker.compose.project=${name}`;
}
