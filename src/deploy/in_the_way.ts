import type { ComposeModel, ObservedContainer } from "../model/mod.ts";
import { type Claims, claimsClash, claimsOf } from "../compose/mod.ts";

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
  const needs = started.map((name) => ({ name, claims: claimsOf(neighbours.model, name) }));
  return holders.filter((holder) => {
    const held = heldBy(holder, neighbours);
    // What it writes to after this deployment too is shared on purpose.
    const keeps = claimsOf(neighbours.model, holder).writes;
    const writes = held.writes.filter((each) => !keeps.includes(each));
    return needs.some(({ name, claims }) =>
      name !== holder && claimsClash({ ...held, writes }, claims)
    );
  });
}

/**
 * True when two services that are replaced together exchange what the engine gives to one alone.
 */
export function exchange(names: readonly string[], neighbours: Neighbours): string[] {
  return names.filter((name) => {
    const { names: held } = heldBy(name, neighbours);
    return names.some((other) => {
      if (other === name) return false;
      const needed = claimsOf(neighbours.model, other).names;
      return held.some((each) => needed.includes(each));
    });
  });
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
