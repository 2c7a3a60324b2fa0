import type { Engine } from "../docker/engine.ts";

/** An engine for one judgement by several rules, which asks only once for the volumes of the same names. */
export function findingOnce<Finding extends Pick<Engine, "findVolumes">>(engine: Finding): Finding {
  const found = new Map<string, ReturnType<Engine["findVolumes"]>>();
  return {
    ...engine,
    findVolumes(names: readonly string[], signal: AbortSignal) {
      const known = JSON.stringify([...new Set(names)].sort());
      return found.getOrInsertComputed(known, () => engine.findVolumes(names, signal));
    },
  };
}
