import { Stacks } from "../deploy/mod.ts";
import { destroyRecorded, partsFor, waitForProcess } from "../pipeline/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { Assembly } from "./assemble.ts";
import { tellAsked } from "./tell_asked.ts";

/** The swarm stacks of each context, under the same locks as deployments. */
export function createStacks(
  assembly: Assembly,
  clock: Clock,
): (context: string) => Promise<Stacks> {
  const { engines, ledger, stackLock, pipelineParts } = assembly;
  return async (context) => {
    const partsOf = async (signal: AbortSignal) =>
      await partsFor(await pipelineParts(signal), { context }, signal);
    return new Stacks({
      engine: (await engines.of(context)).asked,
      clock,
      stackLock,
      othersDone: (key, signal) => waitForProcess({ ledger, clock }, key, () => {}, signal),
      isManager: async (signal) =>
        (await (await partsOf(signal)).host.info(signal)).swarm === "manager",
      async destroyRecorded(key, signal) {
        const kept = { removeVolumes: false, removeImages: false, keepsStackVolumes: true };
        const what = { ...kept, isStack: true };
        return await destroyRecorded(await partsOf(signal), key, what, signal) !== undefined;
      },
      told: (key, action, work, signal) => tellAsked(assembly, key, { action, work }, signal),
    });
  };
}
