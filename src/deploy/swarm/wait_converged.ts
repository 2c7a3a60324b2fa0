import type { Engine } from "../../docker/engine.ts";
import { errors, fewOf, isStackwrightError, type Progress, waitedText } from "../../model/mod.ts";
import type { Clock } from "../../system/mod.ts";
import { type Convergence, convergence, type Wanted } from "./convergence.ts";
import { tasksByService } from "./observed_services.ts";
import { STACK_LABELS } from "./stack_parts.ts";
import { TaskProofs } from "./task_proofs.ts";

/** Number of good looks in a row, with the same tasks, that prove a service at least. */
const GOOD_LOOKS = 3;
/** Milliseconds between two looks. */
const INTERVAL_MS = 1000;

/** Services to wait for, all at once. */
interface ConvergenceWait {
  readonly engine: Pick<Engine, "imageDefaults" | "swarm">;
  readonly clock: Clock;
  readonly stack: string;
  /** By their names in the compose file. */
  readonly services: ReadonlyMap<string, Wanted>;
  /** By the clock's uptime. */
  readonly deadline: number;
  readonly progress: Progress;
}

/**
 * Waits until the tasks of services run and stay the same, until each has run for as long as
 * {@link TaskProofs} asks, and the engine does not report an update under way. An engine that does not
 * answer is asked again until the deadline.
 *
 * Throws `unhealthy` once one of them cannot work any more, and `timeout` with what was missing.
 */
export async function waitConverged(wait: ConvergenceWait, signal: AbortSignal): Promise<void> {
  const { clock, deadline, services, progress } = wait;
  if (services.size === 0) return;
  const proofs = new TaskProofs(wait.engine);
  const since = clock.uptime();
  for (let good = 0, late = 0, before = "";;) {
    const { seen, areProven } = await lookAt(wait, proofs, signal);
    const missing: string[] = [];
    const tasks: string[] = [];
    for (const [name, now] of seen) {
      if (now.kind === "failed") {
        throw errors.unhealthy(`service ${name}: ${now.why}`);
      }
      if (now.kind === "waiting") missing.push(`${name}: ${now.why}`);
      else tasks.push(...now.tasks.map(({ id }) => id));
    }
    const same = tasks.sort().join(" ");
    good = missing.length > 0 ? 0 : good > 0 && same === before ? good + 1 : 1;
    before = same;
    if (good >= GOOD_LOOKS && areProven) return;
    const text = fewOf(missing);
    // Good services may complete their looks after the deadline, but not begin anew for ever.
    if (clock.uptime() >= deadline && (text !== "" || (good === 1 && ++late >= GOOD_LOOKS))) {
      const why = text === "" ? "its tasks end and are replaced all the time" : text;
      throw errors.timeout(`not running within the deployment's timeout: ${why}`);
    }
    progress(
      text === ""
        ? "making sure that it stays healthy"
        : `waiting for ${text}${waitedText(since, clock.uptime(), deadline)}`,
    );
    await clock.sleep(INTERVAL_MS, signal);
  }
}

const REMOVED: Convergence = {
  kind: "failed",
  why: "somebody removed it while the release was rolled out",
};

/** What one look has found; `areProven` where all good tasks have run for long enough. */
interface Look {
  readonly seen: ReadonlyMap<string, Convergence>;
  readonly areProven: boolean;
}

async function lookAt(
  { engine, clock, stack, services }: ConvergenceWait,
  proofs: TaskProofs,
  signal: AbortSignal,
): Promise<Look> {
  const label = { [STACK_LABELS.namespace]: stack };
  const from = clock.now();
  try {
    const found = await engine.swarm.services(label, signal);
    const tasks = await engine.swarm.tasks(label, signal);
    proofs.note(tasks, clock.now());
    const tasksOf = tasksByService(tasks);
    const byName = new Map(found.map((each) => [each.name, each]));
    const seen = new Map<string, Convergence>();
    let areProven = true;
    for (const [name, wanted] of services) {
      const service = byName.get(`${stack}_${name}`);
      const now = service === undefined ? REMOVED : judged(service, tasksOf(service), wanted);
      seen.set(name, now);
      if (service === undefined || now.kind !== "good") continue;
      areProven &&= await proofs.areProven(service, now.tasks, from, signal);
    }
    return { seen, areProven };
  } catch (error) {
    if (!isStackwrightError(error, "engine_unreachable")) throw error;
    const why = "the engine does not answer";
    const seen = [...services.keys()].map((name) => [name, { kind: "waiting", why }] as const);
    return { seen: new Map(seen), areProven: false };
  }
}

function judged(...look: Parameters<typeof convergence>): Convergence {
  const now = convergence(...look);
  const [{ update }] = look;
  if (now.kind !== "good" || update?.state !== "updating") return now;
  return { kind: "waiting", why: "the engine watches its new tasks" };
}
