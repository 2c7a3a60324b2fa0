import { type ProjectAction, Projects } from "../deploy/mod.ts";
import type { StackKey } from "../model/mod.ts";
import { destroyRecorded, imagesOfOthers } from "../pipeline/mod.ts";
import type { Clock } from "../system/mod.ts";
import { createTeller } from "../tell/mod.ts";
import type { Assembly } from "./assemble.ts";

/** The compose projects of the engine, under the same locks as the deployments. */
export function createProjects(
  assembly: Assembly,
  { clock, watchMs }: { readonly clock: Clock; readonly watchMs: number },
): Projects {
  const { engine, ledger, stackLock, pipelineParts } = assembly;
  return new Projects({
    engine,
    clock,
    watchMs,
    stackLock,
    destroyRecorded: async (key, what, signal) =>
      await destroyRecorded(await pipelineParts(signal), key, what, signal),
    hold(key, isStopped) {
      if (ledger.current(key) === undefined) return false;
      if (isStopped) ledger.stops.set(key, clock.now());
      else ledger.stops.remove(key);
      return true;
    },
    told: (key, action, work, signal) => tellProject(assembly, key, { action, work }, signal),
    keptImages: async (key, signal) =>
      await imagesOfOthers(await pipelineParts(signal), key, signal),
  });
}

interface Asked {
  readonly action: ProjectAction | "remove";
  readonly work: () => Promise<void>;
}

/** Of projects that are none of ours nothing is told: they have no decisions. */
async function tellProject(
  { ledger, listeners }: Assembly,
  key: StackKey,
  { action, work }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const current = ledger.current(key);
  if (current === undefined) return await work();
  const { revision } = current;
  const repository = revision.source.name;
  const target = { key, repository, trigger: "project", origin: "manual" } as const;
  const teller = createTeller(listeners, target, revision);
  const kind = action === "remove" ? "destroy" : action;
  const message = "a person asked for it over the API";
  teller.tell({ kind: "decided", decision: { kind, message, changes: [], services: [] } });
  teller.tell({ kind: "started" });
  try {
    await work();
    teller.tell({ kind: "ended", end: { status: "succeeded", message: PAST[action] } });
  } catch (thrown) {
    teller.fail(`the ${action} of ${key.name}`, thrown, signal);
    throw thrown;
  }
}

const PAST = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
  remove: "removed",
} as const;
