import type { Release } from "../model/mod.ts";
import { claimsOf, rangesOf } from "./claims.ts";
import { clashingPlaces, takenPlaces } from "./clashing.ts";

/** A claim of a service to something that only one stack of an engine can have, for comparing releases. */
export interface StackClaim {
  readonly service: string;
  /** Words for what is claimed. */
  readonly what: string;
  /** Keys of the claim, of which another release that wants the same has one in `needed`. */
  readonly held: readonly string[];
  readonly needed: readonly string[];
}

/**
 * The claims of a release to ports, addresses and names of containers, also of what does not run at the
 * moment: another release of the stack is tried, a job has stopped a service, or it waits for a restart.
 * A service without containers claims names alone. So does a job or another one that ends, which has its
 * port only while it runs, but needs one that nobody else claims. One whose profile is not active keeps others
 * from the names that compose gives, and needs nothing. A stack of a swarm has none: its swarm refuses a clash
 * itself.
 */
export function stackClaims(
  { key, model, services, inactive = [], swarm }:
    & Pick<Release, "key" | "model" | "services" | "inactive">
    & Pick<Release, "swarm">,
): StackClaim[] {
  if (swarm !== undefined) return [];
  const later = inactive.map((name) => ({
    ...givenNames(key.name, name),
    service: name,
    needed: [],
  }));
  return services.flatMap(({ name: service, expectation: { replicas, autostart, oneShot } }) => {
    const { names, ports, addresses } = claimsOf(model, service);
    const named = names.length > 0 ? names.map(chosenName) : [givenNames(key.name, service)];
    const ends = !autostart || oneShot;
    const places = replicas === 0 ? [] : [
      ...ports.map((port) => ({
        what: `port ${port.port}/${port.protocol}`,
        held: ends ? [] : clashingPlaces(port).map((each) => `port ${each}`),
        needed: takenPlaces(port).map((each) => `port ${each}`),
      })),
      // The engine chooses one that is free when a container starts, which may be another stack's.
      ...rangesOf(model, service).map((ports) => ({
        what: `one of the ports ${ports[0]?.port}-${ports.at(-1)?.port}/${ports[0]?.protocol}`,
        held: [],
        needed: ports.flatMap(takenPlaces).map((each) => `port ${each}`),
      })),
      ...addresses.map((each) => ({
        what: `the address ${each}`,
        held: ends ? [] : [`address ${each}`],
        needed: [`address ${each}`],
      })),
    ];
    return [...named, ...places].map((each) => ({ service, ...each }));
  }).concat(later);
}

function chosenName(name: string): Omit<StackClaim, "service"> {
  const [prefix] = /^.*-(?=\d+$)/.exec(name) ?? [];
  const with_ = (kind: string) => prefix === undefined ? [] : [`${kind} ${prefix}`];
  return {
    what: `the container name ${name}`,
    held: [`name ${name}`, ...with_("number")],
    needed: [`name ${name}`, ...with_("numbers")],
  };
}

/** The names that compose gives: of any number, as a service may get more containers later. */
function givenNames(stack: string, service: string): Omit<StackClaim, "service"> {
  const prefix = `${stack}-${service}-`;
  return {
    what: `the container names ${prefix}N`,
    held: [`numbers ${prefix}`],
    needed: [`numbers ${prefix}`, `number ${prefix}`],
  };
}
