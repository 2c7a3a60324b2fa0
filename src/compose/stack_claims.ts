import type { ObservedContainer, Release, ReleaseService } from "../model/mod.ts";
import { addressAt, claimsOf } from "./claims.ts";
import { type Claims, clashingPlaces, takenPlaces } from "./clashing.ts";

/** A claim of a service to something that only one stack of an engine can have, for comparing releases. */
export interface StackClaim {
  readonly service: string;
  /** Words for what is claimed. */
  readonly what: string;
  /** Keys of the claim, of which another release that wants the same has one in `needed`. */
  readonly held: readonly string[];
  readonly needed: readonly string[];
  /** Whether it is needed by runs of a job alone, which no deployment starts. */
  readonly isOfRuns?: boolean;
}

/**
 * The claims of a release to ports, addresses and names of containers, also of what does not run at the
 * moment: another release of the stack is tried, a job has stopped a service, or it waits for a restart.
 * A job, or another service that ends, claims its names alone, having its port only while it runs, but needs one
 * that nobody else claims. A service without containers, or whose profile is not active, keeps from its names
 * only who chooses them: to whom compose gives them, they go. Of a range, out of which the engine chooses, none
 * is claimed. A stack of a swarm has ports alone, against stacks that are containers: its swarm looks after
 * those of its own services. There may be tens of thousands.
 */
export function* stackClaims(
  { key, model, services, inactive = [], swarm }: Pick<
    Release,
    "key" | "model" | "services" | "inactive" | "swarm"
  >,
): Generator<StackClaim, void> {
  if (swarm !== undefined) {
    for (const each of services) yield* placesOf(each, portsOfTasks(model, each.name), TASKS);
    return;
  }
  for (const service of services) {
    const { name, expectation: { replicas } } = service;
    const { names, ports, addresses } = claimsOf(model, name);
    for (const each of names) yield chosenName(each, name, replicas);
    if (names.length === 0 && replicas > 0) yield givenNames(key.name, name, replicas);
    if (names.length === 0 && replicas === 0) yield laterNames(key.name, name);
    if (replicas === 0) continue;
    yield* placesOf(service, { ports, addresses }, CONTAINERS);
  }
  for (const service of inactive) yield laterNames(key.name, service);
}

/** Keys of what containers have, by which others are kept from it until these are back. */
export function claimsOfContainers(containers: readonly ObservedContainer[]): string[] {
  return containers.flatMap(({ name, hostPorts = [], fixedAddresses = [] }) => [
    `name ${name}`,
    ...hostPorts.flatMap(clashingPlaces).map((each) => `port ${each}`),
    ...fixedAddresses.map(({ network, address }) => `address ${addressAt(network, address)}`),
  ]);
}

/** How keys of ports begin: of those held by the same kind of stack, and those that it needs to be free. */
interface PortKeys {
  readonly held: string;
  readonly needed: readonly string[];
}

const OF_TASKS = "port of tasks";
const CONTAINERS: PortKeys = { held: "port", needed: ["port", OF_TASKS] };
const TASKS: PortKeys = { held: OF_TASKS, needed: ["port"] };

/** The ports of a swarm's service, at whichever address of a node; as many tasks as it has nodes may have them. */
function portsOfTasks(
  model: Release["model"],
  service: string,
): Pick<Claims, "ports" | "addresses"> {
  const ports = claimsOf(model, service).ports.map((each) => ({ ...each, address: "" }));
  return { ports, addresses: [] };
}

/** Ports and addresses. */
function* placesOf(
  { name: service, expectation: { autostart, oneShot, replicas } }: ReleaseService,
  { ports, addresses }: Pick<Claims, "ports" | "addresses">,
  keys: PortKeys,
): Generator<StackClaim, void> {
  const ends = !autostart || oneShot || replicas === 0;
  const isOfRuns = !autostart;
  for (const port of ports) {
    const what = `port ${port.port}/${port.protocol}`;
    const held = ends ? [] : clashingPlaces(port).map((each) => `${keys.held} ${each}`);
    const places = takenPlaces(port);
    const needed = keys.needed.flatMap((of) => places.map((each) => `${of} ${each}`));
    yield { service, what, held, needed, isOfRuns };
  }
  for (const each of addresses) {
    const needed = [`address ${each}`];
    yield { service, what: `the address ${each}`, held: ends ? [] : needed, needed, isOfRuns };
  }
}

function chosenName(name: string, service: string, replicas: number): StackClaim {
  const [prefix] = /^.*-(?=\d+$)/.exec(name) ?? [];
  const given = prefix === undefined ? [] : [`numbers ${prefix}`, `later ${prefix}`];
  return {
    service,
    what: `the container name ${name}`,
    held: [replicas === 0 ? `chosen ${name}` : `name ${name}`],
    needed: [`name ${name}`, `chosen ${name}`, ...given],
  };
}

/** The names that compose gives, of which others get none: a service may get more containers later. */
function givenNames(stack: string, service: string, replicas: number): StackClaim {
  const prefix = `${stack}-${service}-`;
  const first = Array.from({ length: replicas }, (_, at) => `name ${prefix}${at + 1}`);
  const needed = [`numbers ${prefix}`, ...first];
  return { service, what: namesFrom(prefix), held: [`numbers ${prefix}`], needed };
}

/** The names that compose gives later, if ever, to which another stack's service that gets the same comes first. */
function laterNames(stack: string, service: string): StackClaim {
  const prefix = `${stack}-${service}-`;
  return { service, what: namesFrom(prefix), held: [`later ${prefix}`], needed: [] };
}

function namesFrom(prefix: string): string {
  return `the container names ${prefix}N`;
}

/** Characters of a stack's name up to which names that compose gives are looked at. */
const LONGEST_STACK = 64;

/** The stacks to whose parts compose may give a name: each beginning of it before a separator. */
export function stacksIn(name: string, separator: string): string[] {
  const parts = name.slice(0, LONGEST_STACK + 1).split(separator);
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join(separator));
}
