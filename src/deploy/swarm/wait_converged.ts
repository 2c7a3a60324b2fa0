import type { Engine } from "../../docker/engine.ts";
import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import { errors, isStackwrightError, type Progress } from "../../model/mod.ts";
import type { Clock } from "../../system/mod.ts";
import { type Convergence, convergence, type Wanted } from "./convergence.ts";
import { tasksByService } from "./observed_services.ts";
import { STACK_LABELS } from "./stack_parts.ts";

/** Number of good looks in a row, with the same tasks, that prove a service. */
const GOOD_LOOKS = 3;
/** Milliseconds between two looks. */
const INTERVAL_MS = 1000;

/** Services to wait for, all at once. */
interface ConvergenceWait {
  readonly engine: Pick<Engine, "swarm">;
  readonly clock: Clock;
  readonly stack: string;
  /** By their names in the compose file. */
  readonly services: ReadonlyMap<string, Wanted>;
  readonly deadline: Date;
  readonly progress: Progress;
}

/**
 * Waits until the tasks of services run and stay the same, and the engine does not report an update
 * under way. An engine that does not answer is asked again until the deadline.
 *
 * Throws `unhealthy` as soon as one of them cannot work any more, and `timeout` at the deadline,
 * naming what was missing.
 */
export async function waitConverged(wait: ConvergenceWait, signal: AbortSignal): Promise<void> {
  const { clock, deadline, services, progress } = wait;
  if (services.size === 0) return;
  for (let good = 0, late = 0, before = "";;) {
    const seen = await lookAt(wait, signal);
    const missing: string[] = [];
    const tasks: string[] = [];
    for (const [name, now] of seen) {
      if (now.kind === "failed") {
        throw errors.unhealthy(`service ${name}: ${now.why}`);
      }
      if (now.kind === "waiting") missing.push(`${name}: ${now.why}`);
      else tasks.push(now.tasks);
    }
    const same = tasks.join(" ");
    good = missing.length > 0 ? 0 : good > 0 && same === before ? good + 1 : 1;
    before = same;
    if (good >= GOOD_LOOKS) return;
    const text = missing.join(", ");
    // Good services may complete their looks after the deadline, but not begin anew for ever.
    if (clock.now() >= deadline && (text !== "" || ++late >= GOOD_LOOKS)) {
      const why = text === "" ? "its tasks end and are replaced all the time" : text;
      throw errors.timeout(`not running within the deployment's timeout: ${why}`);
    }
    progress(text === "" ? "making sure that it stays healthy" : `waiting for ${text}`);
    await clock.sleep(INTERVAL_MS, signal);
  }
}

const REMOVED: Convergence = {
  kind: "failed",
  why: "somebody removed it while the release was rolled out",
};

async function lookAt(
  { engine, stack, services }: ConvergenceWait,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Convergence>> {
  const label = { [STACK_LABELS.namespace]: stack };
  let found: readonly SwarmService[];
  let tasks: readonly SwarmTask[];
  try {
    found = await engine.swarm.services(label, signal);
    tasks = await engine.swarm.tasks(label, signal);
  } catch (error) {
    if (!isStackwrightError(error, "engine_unreachable")) throw error;
    const why = "the engine does not answer";
    return new Map([...services.keys()].map((name) => [name, { kind: "waiting", why }]));
  }
  const tasksOf = tasksByService(tasks);
  const byName = new Map(found.map((each) => [each.name, each]));
  return new Map([...services].map(([name, wanted]): [string, Convergence] => {
    const service = byName.get(`${stack}_${name}`);
    return [name, service === undefined ? REMOVED : judged(service, tasksOf(service), wanted)];
  }));
}

function judged(...look: Parameters<typeof convergence>): Convergence {
  const now = convergence(...look);
  const [{ update }] = look;
  if (now.kind !== "good" || update?.state !== "updating") return now;
  return { kind: "waiting", why: "the engine watches its new tasks" };
}
