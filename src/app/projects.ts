import { idleOrphans, Projects } from "../deploy/mod.ts";
import { isOurs, type StackKey } from "../model/mod.ts";
import {
  destroyRecorded,
  imagesOfOthers,
  keptNames,
  partsFor,
  recreate,
  requireNotCutOff,
} from "../pipeline/mod.ts";
import { requireNotOwnProject } from "../prepare/mod.ts";
import { requireDeployedHere } from "../record/mod.ts";
import type { Assembly } from "./assemble.ts";
import { askedParts, type Asking } from "./tell_asked.ts";

/** The compose projects of all contexts' engines, under the same locks as deployments. */
export function createProjects(
  assembly: Assembly,
  asking: Asking,
  watchMs: number,
): Projects {
  const { engines, ledger, pipelineParts } = assembly;
  const partsOf = async (key: StackKey, signal: AbortSignal) =>
    await partsFor(await pipelineParts(signal), key, signal);
  return new Projects({
    ...askedParts(assembly, asking),
    engine: async (context) => (await engines.of(context)).asked,
    watchMs,
    destroyRecorded: async (key, what, signal) =>
      await destroyRecorded(await partsOf(key, signal), key, { ...what, isStack: false }, signal),
    requireNotOurs: async (key, signal) =>
      await requireNotOwnProject((await partsOf(key, signal)).host, key, signal),
    isStack: (key) => ledger.current(key)?.swarm !== undefined,
    async hold(key, action, observed, since, signal) {
      const isStopped = action === "stop";
      const done = isStopped ? "stopped" : `${action}ed`;
      const current = ledger.current(key);
      const isGone = observed.containers.length === 0;
      if (isGone && current?.swarm !== undefined) return undefined;
      if (observed.containers.some(isOurs) || isGone && current !== undefined) {
        // Whose the stack is depends on what the engine says that it is.
        await (await partsOf(key, signal)).host.info(signal);
        requireDeployedHere(ledger, key, done);
      }
      // What a person stopped since is theirs to start again: the next look finishes what was begun.
      if (!isStopped && ledger.stops.get(key) === undefined) {
        requireNotCutOff(ledger, key, done);
      }
      // Also a first release that was cut off is made by nobody in a stack that a person stopped.
      if (current === undefined && !ledger.isUnderWay(key, "deploy")) return undefined;
      const services = current?.swarm === undefined
        ? current && ledger.services(current)
        : undefined;
      const idle = ledger.stops.idle(key) ?? (services && idleOrphans(services, observed)) ?? [];
      return isStopped && !ledger.stop(key, idle, since) ? "moved" : idle;
    },
    started(key) {
      ledger.stops.remove(key);
      // What an action before goes on with ends meanwhile: a removal that ran into its timeout.
      ledger.reconciliations.resume(key);
    },
    recreateRecorded: async (key, service, signal) =>
      await recreate(await partsOf(key, signal), key, service, signal),
    keptImages: async (key, signal) =>
      await imagesOfOthers(await partsOf(key, signal), key, signal),
    keptNames: (key) => keptNames(ledger, key),
  });
}
