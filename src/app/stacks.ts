import { Stacks } from "../deploy/mod.ts";
import { destroyRecorded, partsFor } from "../pipeline/mod.ts";
import type { Assembly } from "./assemble.ts";
import { askedParts, type Asking } from "./tell_asked.ts";

/** The swarm stacks of each context, under the same locks as deployments. */
export function createStacks(
  assembly: Assembly,
  asking: Asking,
): (context: string) => Promise<Stacks> {
  const { engines, pipelineParts } = assembly;
  return async (context) => {
    const partsOf = async (signal: AbortSignal) =>
      await partsFor(await pipelineParts(signal), { context }, signal);
    return new Stacks({
      ...askedParts(assembly, asking),
      engine: (await engines.of(context)).asked,
      isManager: async (signal) =>
        (await (await partsOf(signal)).host.info(signal)).swarm === "manager",
      async destroyRecorded(key, signal) {
        const kept = { removeVolumes: false, removeImages: false };
        const what = { ...kept, isStack: true };
        return await destroyRecorded(await partsOf(signal), key, what, signal) !== undefined;
      },
    });
  };
}
