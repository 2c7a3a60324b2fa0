import { isOurs, type ObservedContainer, type ObservedStack, type Release } from "../model/mod.ts";

/**
 * Tells whether containers or services have come under the name of a stack that had none of ours when
 * it was `seen`, by a look at it `now`: another manager's or a person's, made while its release was prepared.
 */
export function othersCame(
  { swarm }: Pick<Release, "swarm">,
  seen: ObservedStack,
  now: ObservedStack,
): boolean {
  if ([...seen.containers, ...seen.idle ?? []].some(isOurs)) return false;
  const idle = new Set(seen.idle?.map(({ service }) => service));
  if (now.idle?.some(({ service }) => !idle.has(service)) === true) return true;
  // A swarm makes tasks anew under the names of the old ones.
  const idOf = ({ id, name }: ObservedContainer) => swarm === undefined ? id : name;
  const known = new Set(seen.containers.map(idOf));
  return now.containers.some((each) => !known.has(idOf(each)));
}
