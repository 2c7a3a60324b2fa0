import { askingSource, fewOf, type ServicePlan } from "../../model/mod.ts";
import type { Rollout } from "../rollout_words.ts";
import { ensureStack } from "./ensure_stack.ts";
import { removedBy } from "../left_orphans.ts";
import { postServices } from "./post_services.ts";
import type { StackRelease, StackRolloutParts } from "./stack_words.ts";
import { stackOf } from "./stack_of.ts";
import { STACK_LABELS } from "./stack_parts.ts";
import { waitConverged } from "./wait_converged.ts";

/** A plan to carry out for a stack. */
interface StackWork extends Pick<Rollout, "services" | "liveNow" | "timeoutSeconds"> {
  readonly next: StackRelease;
  /** Services that must run although the plan leaves them alone. */
  readonly verify: readonly string[];
}

/**
 * Switches the files, makes missing objects, posts the services that a plan changes, waits for all of
 * them at once, and removes unwanted ones. May be called again, with a new plan.
 *
 * Throws `unhealthy`, `timeout`, `conflict`, `data_dir_unusable`, and what the engine throws.
 */
export async function applyStack(
  parts: StackRolloutParts,
  { next, services, verify, liveNow, timeoutSeconds }: StackWork,
  signal: AbortSignal,
): Promise<void> {
  const { engine, clock, progress } = parts;
  const { release, tree } = next;
  const deadline = clock.uptime() + timeoutSeconds * 1000;
  const stack = await stackOf(parts.swarm, next, await engine.apiVersion(signal));
  await parts.files.switchTo(tree, release, liveNow);
  const posted = services.filter(({ action }) => action !== "keep" && action !== "remove");
  if (posted.length > 0) {
    await parts.requireOwn(release, signal);
    progress(`changing ${fewOf(posted.map(({ name }) => name))}`);
    const sources = parts.swarm.handedOver?.union(new Set([askingSource(release)]));
    const object = await ensureStack(engine, { ...stack, sources }, signal);
    await parts.requireAllowed(next, signal);
    await postServices(parts, { stack, next, object, services: posted }, signal);
  }
  const awaited = new Set([...posted.map(({ name }) => name), ...verify]);
  await waitConverged({
    engine,
    clock,
    stack: stack.name,
    services: new Map(
      release.services.filter(({ name, expectation }) => awaited.has(name) && expectation.autostart)
        .map(({ name, expectation, digest }) => {
          // The engine's report on a service that is not posted concerns an earlier update.
          const before = posted.some((each) => each.name === name) ? {} : { digest };
          return [name, { waitsForEnd: expectation.oneShot, ...before }];
        }),
    ),
    deadline,
    progress,
  }, signal);
  await removeServices(parts, stack.name, services, signal);
}

async function removeServices(
  { engine: { swarm }, progress }: StackRolloutParts,
  stack: string,
  services: readonly ServicePlan[],
  signal: AbortSignal,
): Promise<void> {
  const names = removedBy(services);
  if (names.size === 0) return;
  progress(`removing ${fewOf([...names])}`);
  const full = new Set([...names].map((each) => `${stack}_${each}`));
  const existing = await swarm.services({ [STACK_LABELS.namespace]: stack }, signal);
  for (const { id, name } of existing) {
    if (full.has(name)) await swarm.removeService(id, signal);
  }
}
