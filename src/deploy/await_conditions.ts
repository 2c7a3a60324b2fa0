import { errors, waitedText } from "../model/mod.ts";
import { conditionState, type StartCondition } from "./conditions.ts";
import { lastLines } from "./last_lines.ts";
import { observe } from "./observe.ts";
import { type Looks, withLooks } from "./looks.ts";
import type { HealthWait } from "./wait_healthy.ts";

interface ConditionWait extends Omit<HealthWait, "services" | "watchMs"> {
  readonly conditions: readonly StartCondition[];
}

/**
 * Waits until the dependencies of services meet their `depends_on` conditions. Compose waits only
 * for services within one call, so conditions across two of its calls are awaited here.
 *
 * Throws `unhealthy` when a condition cannot be met any more, `timeout` at the deadline.
 */
export async function awaitConditions(wait: ConditionWait, signal: AbortSignal): Promise<void> {
  if (wait.conditions.length === 0) return;
  await withLooks(wait, (looks) => untilMet(wait, looks, signal), signal);
}

async function untilMet(wait: ConditionWait, looks: Looks, signal: AbortSignal): Promise<void> {
  const { engine, clock, key, conditions, deadline, progress } = wait;
  const since = clock.uptime();
  for (;;) {
    const now = conditionState(conditions, await observe(engine, { key }, signal));
    if (now.kind === "met") return;
    if (now.kind === "failed") {
      const log = await lastLines({ engine, clock }, now.container.id, signal);
      throw errors.unhealthy(`service ${now.why}${log}`);
    }
    if (clock.uptime() >= deadline) {
      throw errors.timeout(`not started within the deployment's timeout: ${now.why}`);
    }
    progress?.(now.why + waitedText(since, clock.uptime(), deadline));
    await looks.next();
  }
}
