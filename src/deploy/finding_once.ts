import type { Engine } from "../docker/engine.ts";

/**
 * An engine for one judgement, which asks only once for the volumes of the same names: several rules
 * look at those of a model.
 */
export function findingOnce(engine: Engine): Engine {
  const found = new Map<string, ReturnType<Engine["findVolumes"]>>();
  return {
    ...engine,
    findVolumes(names, signal) {
      const known = JSON.stringify(names);
      const answer = found.get(known) ?? engine.findVolumes(names, signal);
      found.set(known, answer);
      return answer;
    },
  };
}
