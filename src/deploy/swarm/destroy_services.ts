import type { Engine } from "../../docker/engine.ts";
import { errors, type StackKey } from "../../model/mod.ts";
import type { Clock } from "../../system/mod.ts";
import { type Destroy, isInUse, type RemovedData, removeVolumesOf } from "../destroy.ts";
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
 * Removes a stack from a swarm: its services, then, when their tasks ended, its secrets, configs
 * and networks, except those that others are connected to, and with `removeVolumes` the volumes on
 * the connected node; `requireStill` is asked before each removal. May be called again after an
 * interruption. Returns what became of the volumes; those of other nodes stay.
 *
 * Throws `timeout` when tasks do not end.
 */
export async function destroyServices(
  { engine, clock }: DestroyParts,
  destroy: Pick<Destroy, "key" | "removeVolumes" | "requireStill" | "whyKept">,
  signal: AbortSignal,
): Promise<RemovedData> {
  const { key, removeVolumes, requireStill } = destroy;
  const { swarm } = engine;
  const label = { [STACK_LABELS.namespace]: key.name };
  const services = await swarm.services(label, signal);
  for (const { id } of services) {
    requireStill?.();
    await swarm.removeService(id, signal);
  }
  await tasksEnded({ engine, clock }, key, signal);
  for (const kind of ["secrets", "configs"] as const) {
    for (const { id } of await swarm.objects(kind, label, signal)) {
      requireStill?.();
      await swarm.removeObject(kind, id, signal);
    }
  }
  for (const { id } of await engine.listNetworks(label, signal)) {
    const remove = () => {
      requireStill?.();
      return engine.removeNetwork(id, signal);
    };
    await patiently(clock, remove, signal).catch((error) => {
      if (!isInUse(error)) throw error;
    });
  }
  if (!removeVolumes) return { deleted: [], kept: [] };
  return await removeVolumesOf(engine, destroy, signal, (work) => patiently(clock, work, signal));
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
