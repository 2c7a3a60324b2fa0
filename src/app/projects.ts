import { idleOrphans, Projects } from "../deploy/mod.ts";
import type { StackKey } from "../model/mod.ts";
import {
  destroyRecorded,
  imagesOfOthers,
  partsFor,
  recreate,
  requireNotCutOff,
  waitForProcess,
} from "../pipeline/mod.ts";
import { requireNotOwnProject } from "../prepare/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { Assembly } from "./assemble.ts";
import { tellAsked } from "./tell_asked.ts";

/** The compose projects of all contexts' engines, under the same locks as deployments. */
export function createProjects(
  assembly: Assembly,
  { clock, watchMs }: { readonly clock: Clock; readonly watchMs: number },
): Projects {
  const { engines, ledger, stackLock, pipelineParts } = assembly;
  const partsOf = async (key: StackKey, signal: AbortSignal) =>
    await partsFor(await pipelineParts(signal), key, signal);
  return new Projects({
    engine: async (context) => (await engines.of(context)).asked,
    clock,
    watchMs,
    stackLock,
    othersDone: (key, signal) => waitForProcess({ ledger, clock }, key, () => {}, signal),
    destroyRecorded: async (key, what, signal) =>
      await destroyRecorded(await partsOf(key, signal), key, { ...what, isStack: false }, signal),
    requireNotOurs: async (key, signal) =>
      await requireNotOwnProject((await partsOf(key, signal)).host, key, signal),
    isStack: (key) => ledger.current(key)?.swarm !== undefined,
    hold(key, action, observed) {
      const isStopped = action === "stop";
      if (ledger.heldElsewhere(key) !== undefined) return "moved";
      // What a person stopped since is theirs to start again: the next look finishes what was begun.
      if (!isStopped && ledger.stops.get(key) === undefined) {
        requireNotCutOff(ledger, key, `${action}ed`);
      }
      const current = ledger.current(key);
      // Also a first release that was cut off is made by nobody in a stack that a person stopped.
      if (current === undefined && !ledger.isUnderWay(key, "deploy")) return undefined;
      const services = current?.swarm === undefined
        ? current && ledger.services(current)
        : undefined;
      const idle = ledger.stops.idle(key) ?? (services && idleOrphans(services, observed)) ?? [];
      if (isStopped) { if (!ledger.stop(key, idle)) return "moved"; }
      else {
        ledger.stops.remove(key);
        // What an action before goes on with ends meanwhile: a removal that ran into its timeout.
        ledger.reconciliations.resume(key);
      }
      return idle;
    },
    recreateRecorded: async (key, what, signal) =>
      await recreate(await partsOf(key, signal), key, what, signal),
    told: (key, action, work, signal) => tellAsked(assembly, key, { action, work }, signal),
    keptImages: async (key, signal) =>
      await imagesOfOthers(await partsOf(key, signal), key, signal),
  });
}
