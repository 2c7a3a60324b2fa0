import type { ComposeModel, ObservedContainer } from "../model/mod.ts";
import { type Claims, claimsOf, clashing } from "../compose/mod.ts";

/** Services that run, and those that shall run. */
export interface Neighbours {
  readonly model: ComposeModel;
  /** What runs now, where it is known. */
  readonly previousModel: ComposeModel | undefined;
  readonly containers: readonly ObservedContainer[];
}

/**
 * Of `holders`, services whose containers go or are made anew, those that hold something which one of
 * `started` needs.
 */
export function inTheWay(
  holders: readonly string[],
  started: readonly string[],
  neighbours: Neighbours,
): string[] {
  const { model } = neighbours;
  const needed = started.map((name) => ({ name, claims: claimsOf(model, name) }));
  const held = holders.map((name) => {
    const claims = heldBy(name, neighbours);
    // What it writes to after this deployment too is shared on purpose.
    const keeps = new Set(claimsOf(model, name).writes);
    return {
      name,
      claims: { ...claims, writes: claims.writes.filter((each) => !keeps.has(each)) },
    };
  });
  const found = clashing(held, needed);
  return holders.filter((each) => found.has(each));
}

/**
 * True when two services that are replaced together exchange what the engine gives to one alone.
 */
export function exchange(names: readonly string[], neighbours: Neighbours): string[] {
  const onlyNames = (name: string, claims: Claims) => ({
    name,
    claims: { ...claims, ports: [], addresses: [], hostNetwork: false, writes: [] },
  });
  const found = clashing(
    names.map((name) => onlyNames(name, heldBy(name, neighbours))),
    names.map((name) => onlyNames(name, claimsOf(neighbours.model, name))),
  );
  return names.filter((each) => found.has(each));
}

/**
 * What a service's containers hold: by the release that made them, and by what the engine shows.
 */
function heldBy(name: string, { previousModel, containers }: Neighbours): Claims {
  const known = claimsOf(previousModel ?? {}, name);
  const mine = containers.filter((each) => each.service === name);
  return {
    ...known,
    names: [...known.names, ...mine.map((each) => each.name)],
    ports: [...known.ports, ...mine.flatMap((each) => each.hostPorts ?? [])],
  };
}
