import type { HostPort } from "../model/mod.ts";
import { spelledOnce } from "../system/mod.ts";

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
 * Services of `held` whose claims clash with those of another service in `needed`, each with the first
 * of those. A shared writable path or volume is a clash: two processes on the same data can destroy it.
 *
 * Uses indexes instead of comparing pairs, since projects may have any number of ports and paths.
 */
export function clashing(
  held: readonly ServiceClaims[],
  needed: readonly ServiceClaims[],
): ReadonlyMap<string, string> {
  const firstOther = (takers: readonly number[], name: string) =>
    takers.find((each) => needed[each]?.name !== name) ?? Infinity;
  const needs = new Map<string, number[]>();
  for (const [at, { claims }] of needed.entries()) {
    for (const key of neededKeys(claims)) addTaker(needs.getOrInsertComputed(key, () => []), at);
  }
  const writtenBy = clashingPaths(held, needed, firstOther);
  return new Map(held.flatMap(({ name, claims }) => {
    const keys = heldKeys(claims).map((key) => firstOther(needs.get(key) ?? [], name));
    const first = keys.reduce((a, b) => Math.min(a, b), writtenBy.get(name) ?? Infinity);
    const taker = needed[first];
    return taker === undefined ? [] : [[name, taker.name]];
  }));
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

/** Keeps the first two, which are enough to tell the first one besides any given. */
function addTaker(takers: number[], taker: number): void {
  if (takers.includes(taker) || (takers.length === 2 && taker > (takers[1] ?? 0))) return;
  takers.push(taker);
  takers.sort((a, b) => a - b).splice(2);
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
export function takenPlaces(port: HostPort): string[] {
  return placesOf(port).flatMap(({ all, is }) => [all, `${all} ${is}`]);
}

/** Keys of needed ports that clash with a held port. */
export function clashingPlaces(port: HostPort): string[] {
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

/**
 * Addresses that a port is published at: one of a family, or any; without one, and at what the engine takes for
 * none, any of both.
 */
function addressesAt(address: string) {
  const one = spelledOnce(address);
  if (one === undefined) return [{ family: 4, is: "any" }, { family: 6, is: "any" }];
  if (one.includes(":")) return [{ family: 6, is: one === "::" ? "any" : one }];
  return [{ family: 4, is: one === "0.0.0.0" ? "any" : one }];
}

/** A written path, with services that need it (`own`), or also an outer (`around`) or inner one. */
interface Written {
  readonly path: string;
  readonly own: number[];
  readonly inside: number[];
  parent: Written | undefined;
  around: readonly number[];
}

/** Holders of a volume or path which another service needs, or an outer or inner path of it. */
function clashingPaths(
  held: readonly ServiceClaims[],
  needed: readonly ServiceClaims[],
  firstOther: (takers: readonly number[], name: string) => number,
): ReadonlyMap<string, number> {
  const nodes = new Map<string, Written>();
  const nodeOf = (write: string): Written => {
    // With a final slash, a path is sorted directly before everything inside of it.
    const path = write === "/" ? "/" : `${write}/`;
    const make = () => ({ path, own: [], inside: [], parent: undefined, around: [] });
    return nodes.getOrInsertComputed(path, make);
  };
  for (const [at, { claims }] of needed.entries()) {
    for (const each of claims.writes) addTaker(nodeOf(each).own, at);
  }
  for (const each of held.flatMap(({ claims }) => claims.writes)) nodeOf(each);
  link([...nodes.values()].sort((a, b) => a.path < b.path ? -1 : 1));
  return new Map(held.map(({ name, claims }) => [
    name,
    claims.writes.map(nodeOf).reduce(
      (first, { around, inside }) =>
        Math.min(first, firstOther(around, name), firstOther(inside, name)),
      Infinity,
    ),
  ]));
}

/** Fills in, for sorted paths, the services that need outer and inner paths. */
function link(sorted: readonly Written[]): void {
  let above: Written | undefined;
  for (const node of sorted) {
    while (above !== undefined && !node.path.startsWith(above.path)) above = above.parent;
    node.parent = above;
    const around = [...node.own];
    for (const taker of above?.around ?? []) addTaker(around, taker);
    node.around = around;
    above = node;
  }
  for (const node of [...sorted].reverse()) {
    for (const taker of node.own) addTaker(node.inside, taker);
    for (const taker of node.inside) addTaker(node.parent?.inside ?? [], taker);
  }
}
