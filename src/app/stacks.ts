import { Stacks } from "../deploy/mod.ts";
import { destroyRecorded } from "../pipeline/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { Assembly } from "./assemble.ts";
import { tellAsked } from "./tell_asked.ts";

/** The stacks of the engine's swarm, under the same locks as the deployments. */
export function createStacks(assembly: Assembly, clock: Clock): Stacks {
  const { engine, ledger, stackLock, pipelineParts } = assembly;
  return new Stacks({
    engine,
    clock,
    stackLock,
    isManager: async (signal) =>
      (await (await pipelineParts(signal)).host.info(signal)).swarm === "manager",
    async destroyRecorded(key, signal) {
      if (ledger.current(key)?.swarm === undefined) return false;
      const what = { removeVolumes: false, removeImages: false, keepsStackVolumes: true };
      await destroyRecorded(await pipelineParts(signal), key, what, signal);
      return true;
    },
    told: (key, action, work, signal) => tellAsked(assembly, key, { action, work }, signal),
  });
}
