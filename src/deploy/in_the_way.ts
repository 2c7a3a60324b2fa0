import type { ComposeModel, ObservedContainer } from "../model/mod.ts";
import { type Claims, claimsOf, clashing } from "../compose/mod.ts";

/** The running and the wanted services of a stack. */
export interface Neighbours {
  readonly model: ComposeModel;
  /** The model of what runs now, where it is known. */
  readonly previousModel: ComposeModel | undefined;
  readonly containers: readonly ObservedContainer[];
}

/** Services among `holders`, which are removed or replaced, that hold what one of `started` needs. */
export function inTheWay(
  holders: readonly string[],
  started: readonly string[],
  neighbours: Neighbours,
): string[] {
  const { model } = neighbours;
  const needed = started.map((name) => ({ name, claims: claimsOf(model, name) }));
  const held = holders.map((name) => {
    const claims = heldBy(name, neighbours);
    // Data that a service keeps writing to after this deployment is shared on purpose.
    const keeps = new Set(claimsOf(model, name).writes);
    return {
      name,
      claims: { ...claims, writes: claims.writes.filter((each) => !keeps.has(each)) },
    };
  });
  const found = clashing(held, needed);
  return holders.filter((each) => found.has(each));
}

/** Services of `names`, replaced together, that hold a container name which another one needs. */
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

/** Claims of a service's existing containers: of the release that made them, and of the engine. */
function heldBy(name: string, { previousModel, containers }: Neighbours): Claims {
  const known = claimsOf(previousModel ?? {}, name);
  const mine = containers.filter((each) => each.service === name);
  return {
    ...known,
    names: [...known.names, ...mine.map((each) => each.name)],
    ports: [...known.ports, ...mine.flatMap((each) => each.hostPorts ?? [])],
  };
}
