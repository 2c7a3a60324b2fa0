import type { HostPort } from "../model/mod.ts";

/** Exclusive resources of a host that a service claims. */
export interface Claims {
  readonly ports: readonly HostPort[];
  /** Container names chosen by the author. */
  readonly names: readonly string[];
  /** Fixed addresses, each prefixed with its network. */
  readonly addresses: readonly string[];
  /** Whether it uses the host's network, where its ports are unknown. */
  readonly hostNetwork: boolean;
  /** Named volumes and host paths that it may write to. */
  readonly writes: readonly string[];
}

interface ServiceClaims {
  readonly name: string;
  readonly claims: Claims;
}

/**
 * Services of `held` whose claims clash with those of another service in `needed`. A shared
 * writable path or volume is a clash: two processes on the same data can destroy it.
 *
 * Uses indexes instead of comparing pairs, since projects may have any number of ports and paths.
 */
export function clashing(
  held: readonly ServiceClaims[],
  needed: readonly ServiceClaims[],
): ReadonlySet<string> {
  const needs = new Needs();
  for (const { name, claims } of needed) for (const key of neededKeys(claims)) needs.add(key, name);
  const written = clashingPaths(held, needed);
  return new Set(
    held.filter(({ name, claims }) =>
      written.has(name) || heldKeys(claims).some((key) => needs.hasOther(key, name))
    ).map(({ name }) => name),
  );
}

/** A function that finds the holders of ports that clash with given ones, with each one's first. */
export function portHolders<Holder extends { readonly hostPorts?: readonly HostPort[] }>(
  holders: readonly Holder[],
): (others: readonly HostPort[]) => ReadonlyMap<Holder, HostPort> {
  const ports = holders.flatMap((holder) =>
    (holder.hostPorts ?? []).flatMap((port, at) =>
      clashingPlaces(port).map((place) => ({ place, holder, port, at }))
    )
  );
  const held = Map.groupBy(ports, ({ place }) => place);
  return (others) => {
    const found = new Map<Holder, (typeof ports)[number]>();
    for (const place of new Set(others.flatMap(takenPlaces))) {
      for (const each of held.get(place) ?? []) {
        if (each.at < (found.get(each.holder)?.at ?? Infinity)) found.set(each.holder, each);
      }
    }
    return new Map([...found].map(([holder, { port }]) => [holder, port]));
  };
}

/** The services that need a claim; two names are enough to tell whether another one does. */
class Needs {
  readonly #names = new Map<string, string[]>();

  add(key: string, name: string): void {
    addName(this.#names.getOrInsertComputed(key, () => []), name);
  }

  hasOther(key: string, name: string): boolean {
    return hasOther(this.#names.get(key) ?? [], name);
  }
}

function addName(names: string[], name: string): void {
  if (names.length < 2 && !names.includes(name)) names.push(name);
}

function hasOther(names: readonly string[], name: string): boolean {
  return names.some((each) => each !== name);
}

function neededKeys({ names, addresses, ports, hostNetwork }: Claims): string[] {
  return [
    ...names.map((each) => `name ${each}`),
    ...addresses.map((each) => `address ${each}`),
    ...(hostNetwork ? ["host network"] : []),
    ...(ports.length > 0 ? ["ports"] : []),
    ...ports.flatMap(takenPlaces),
  ];
}

function heldKeys({ names, addresses, ports, hostNetwork }: Claims): string[] {
  return [
    ...names.map((each) => `name ${each}`),
    ...addresses.map((each) => `address ${each}`),
    ...(hostNetwork ? ["host network", "ports"] : []),
    ...(ports.length > 0 ? ["host network"] : []),
    ...ports.flatMap(clashingPlaces),
  ];
}

/** Keys that a needed port registers: for its address, and for its number at any address. */
function takenPlaces(port: HostPort): string[] {
  return placesOf(port).flatMap(({ all, is }) => [all, `${all} ${is}`]);
}

/** Keys of needed ports that clash with a held port. */
function clashingPlaces(port: HostPort): string[] {
  return placesOf(port).flatMap(({ all, is }) =>
    is === "any" ? [all] : [`${all} ${is}`, `${all} any`]
  );
}

function placesOf({ address, port, protocol }: HostPort) {
  return addressesAt(address).map(({ family, is }) => ({
    all: `${port}/${protocol} ${family}`,
    is,
  }));
}

/** Addresses that a port is published at: one of a family, or any; without one, any of both. */
function addressesAt(address: string) {
  const plain = address.replace(/^\[|\]$/g, "").toLowerCase();
  if (plain === "" || plain === "*") return [{ family: 4, is: "any" }, { family: 6, is: "any" }];
  if (plain.includes(":")) return [{ family: 6, is: plain === "::" ? "any" : plain }];
  return [{ family: 4, is: plain === "0.0.0.0" ? "any" : plain }];
}

/** A written path, with services that need it (`own`), or also an outer (`around`) or inner one. */
interface Written {
  readonly path: string;
  readonly own: string[];
  readonly inside: string[];
  parent: Written | undefined;
  around: readonly string[];
}

/** Services that hold a volume or path which another one needs, or an outer or inner path of it. */
function clashingPaths(held: readonly ServiceClaims[], needed: readonly ServiceClaims[]) {
  const nodes = new Map<string, Written>();
  const nodeOf = (write: string): Written => {
    // With a final slash, a path is sorted directly before everything inside of it.
    const path = write === "/" ? "/" : `${write}/`;
    const make = () => ({ path, own: [], inside: [], parent: undefined, around: [] });
    return nodes.getOrInsertComputed(path, make);
  };
  for (const { name, claims } of needed) {
    for (const each of claims.writes) addName(nodeOf(each).own, name);
  }
  for (const each of held.flatMap(({ claims }) => claims.writes)) nodeOf(each);
  link([...nodes.values()].sort((a, b) => a.path < b.path ? -1 : 1));
  return new Set(
    held.filter(({ name, claims }) =>
      claims.writes.some((each) => {
        const { around, inside } = nodeOf(each);
        return hasOther(around, name) || hasOther(inside, name);
      })
    ).map(({ name }) => name),
  );
}

/** Fills in, for sorted paths, the services that need outer and inner paths. */
function link(sorted: readonly Written[]): void {
  let above: Written | undefined;
  for (const node of sorted) {
    while (above !== undefined && !node.path.startsWith(above.path)) above = above.parent;
    node.parent = above;
    const around = [...node.own];
    for (const name of above?.around ?? []) addName(around, name);
    node.around = around;
    above = node;
  }
  for (const node of [...sorted].reverse()) {
    for (const name of node.own) addName(node.inside, name);
    for (const name of node.inside) addName(node.parent?.inside ?? [], name);
  }
}
