import type { Engine } from "../../docker/engine.ts";
import { errors, type StackKey } from "../../model/mod.ts";
import type { Clock } from "../../system/mod.ts";
import {
  type Destroy,
  isInUse,
  NOTHING_REMOVED,
  objectsOf,
  type RemovedData,
  removeVolumesOf,
  requireFewThings,
  sortedOut,
} from "../destroy.ts";
import { holdsSomething } from "./observed_services.ts";
import { STACK_LABELS } from "./stack_parts.ts";

/** Milliseconds between two looks at the tasks of a stack, and the number of looks. */
const INTERVAL_MS = 500;
const MOST_LOOKS = 240;
/** Attempts at removing something that tasks used until a moment ago. */
const MOST_TRIES = 10;

interface DestroyParts {
  readonly engine: Engine;
  readonly clock: Clock;
}

/**
 * Removes a stack from a swarm: its services, then, when their tasks ended, its secrets, configs and
 * networks, except those that others are connected to, and with `removeVolumes` the volumes on the
 * connected node; `requireStill` is asked before each removal, and `whyKept` of each thing. May be
 * called again. Returns what became of the volumes, and what was kept; volumes of other nodes stay.
 *
 * Throws `timeout` when tasks do not end.
 */
export async function destroyServices(
  { engine, clock }: DestroyParts,
  destroy: Pick<Destroy, "key" | "removeVolumes" | "requireStill" | "whyKept">,
  signal: AbortSignal,
): Promise<RemovedData> {
  const { key, removeVolumes, requireStill, whyKept } = destroy;
  const { swarm } = engine;
  const label = { [STACK_LABELS.namespace]: key.name };
  const few = <T>(kind: "network" | "service", all: readonly T[]) =>
    requireFewThings(key, kind, all, STACK_LABELS.namespace);
  const all = few("service", await swarm.services(label, signal));
  const services = sortedOut("service", all, whyKept);
  for (const { id } of services.goes) {
    requireStill?.();
    await swarm.removeService(id, signal);
  }
  await tasksEnded({ engine, clock }, key, signal);
  const kept = [...services.kept];
  // Tasks take long to end, and another manager may have deployed under the name since.
  for (const object of await objectsOf(engine, key, signal)) {
    const { goes, kept: left } = sortedOut(object.kind, [object], whyKept);
    kept.push(...left);
    if (goes.length === 0) continue;
    requireStill?.();
    await swarm.removeObject(object.kinds, object.id, signal);
  }
  const left = few("network", await engine.listNetworks(label, signal));
  const networks = sortedOut("network", left, whyKept);
  for (const { id } of networks.goes) {
    const remove = () => {
      requireStill?.();
      return engine.removeNetwork(id, signal);
    };
    await patiently(clock, remove, signal).catch((error) => {
      if (!isInUse(error)) throw error;
    });
  }
  const attempt = <T>(work: () => Promise<T>) => patiently(clock, work, signal);
  const volumes = removeVolumes
    ? await removeVolumesOf(engine, destroy, signal, attempt)
    : NOTHING_REMOVED;
  return { ...volumes, kept: [...kept, ...networks.kept, ...volumes.kept] };
}

async function tasksEnded(
  { engine: { swarm }, clock }: DestroyParts,
  { name }: StackKey,
  signal: AbortSignal,
): Promise<void> {
  for (let look = 1;; look++) {
    const tasks = await swarm.tasks({ [STACK_LABELS.namespace]: name }, signal);
    const left = tasks.filter(holdsSomething);
    if (left.length === 0) return;
    if (look === MOST_LOOKS) {
      throw errors.timeout(
        `stack ${name}: ${left.length} tasks of its removed services did not end within ` +
          `${MOST_LOOKS * INTERVAL_MS / 1000} s; is a node down?`,
      );
    }
    await clock.sleep(INTERVAL_MS, signal);
  }
}

/** Repeats work while a resource is in use: the engine releases it some time after a task ended. */
async function patiently<Result>(clock: Clock, work: () => Promise<Result>, signal: AbortSignal) {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!isInUse(error) || attempt === MOST_TRIES) throw error;
      await clock.sleep(INTERVAL_MS, signal);
    }
  }
}
