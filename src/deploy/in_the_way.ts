import type { ComposeModel, ObservedContainer } from "../model/mod.ts";
import { type Claims, claimsOf, clashing } from "../compose/mod.ts";

/** The running and the wanted services of a stack. */
export interface Neighbours {
  readonly model: ComposeModel;
  /** The model of what runs now, where it is known. */
  readonly previousModel: ComposeModel | undefined;
  readonly containers: readonly ObservedContainer[];
}

/** A function that answers who is in the way of whom. */
interface InTheWay {
  /** Services among `holders`, which go, that hold what one of `started` needs, each with the first of those. */
  inTheWay(holders: readonly string[], started: readonly string[]): ReadonlyMap<string, string>;
  /** Services of `names`, replaced together, that hold a container name which another one needs. */
  exchange(names: readonly string[]): ReadonlyMap<string, string>;
}

/** Answers who is in whose way, with the containers sorted by service once. */
export function waysOf({ model, previousModel, containers }: Neighbours): InTheWay {
  const byService = Map.groupBy(containers, ({ service }) => service);
  const neededBy = (name: string) => ({ name, claims: claimsOf(model, name) });
  /** Claims of a service's existing containers: of the release that made them, and of the engine. */
  const heldBy = (name: string) => {
    const known = claimsOf(previousModel ?? {}, name);
    const mine = byService.get(name) ?? [];
    const claims: Claims = {
      ...known,
      names: [...known.names, ...mine.map((each) => each.name)],
      ports: [...known.ports, ...mine.flatMap((each) => each.hostPorts ?? [])],
    };
    return { name, claims };
  };
  return {
    inTheWay(holders, started) {
      const held = holders.map(heldBy).map(({ name, claims }) => {
        // Data that a service keeps writing to after this deployment is shared on purpose.
        const keeps = new Set(claimsOf(model, name).writes);
        const writes = claims.writes.filter((each) => !keeps.has(each));
        return { name, claims: { ...claims, writes } };
      });
      return clashing(held, started.map(neededBy));
    },
    exchange(names) {
      const nothing = { ports: [], addresses: [], hostNetwork: false, writes: [] };
      const onlyNames = ({ name, claims }: ReturnType<typeof heldBy>) => ({
        name,
        claims: { ...nothing, names: claims.names },
      });
      return clashing(
        names.map((name) => onlyNames(heldBy(name))),
        names.map((name) => onlyNames(neededBy(name))),
      );
    },
  };
}
