import { messageOf, type ServicePlan } from "../../model/mod.ts";
import { attempted } from "../attempts.ts";
import { observe } from "../observe.ts";
import { imagesByService } from "../rollout.ts";
import { type Rollout, type RolloutResult, saidOfBack } from "../rollout_words.ts";
import { applyStack } from "./apply_stack.ts";
import { pruneObjects } from "./prune_objects.ts";
import type { StackRelease, StackRolloutParts } from "./stack_words.ts";
import { stackOf } from "./stack_of.ts";

interface StackRollout
  extends Pick<Rollout, "services" | "verify" | "liveNow" | "timeoutSeconds" | "rollback"> {
  readonly next: StackRelease;
  readonly previous: StackRelease | undefined;
}

/**
 * Carries a plan for a stack out. After a failure it puts the previous release back as a whole: the
 * engine's own rollback covers a single service, and a second one brings the bad release back.
 *
 * Rejects only with the signal's reason: the ledger's open intent resumes it at the next start.
 */
export async function rolloutStack(
  parts: StackRolloutParts,
  work: StackRollout,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { release } = work.next;
  return await attempted(parts, work, {
    async forward(isRest) {
      const now = isRest ? await planAgain(parts, work, signal) : work;
      await applyStack(parts, { ...now, verify: now.verify ?? [] }, signal);
      const images = imagesByService(await observe(parts.engine, release, signal));
      await prune(parts, work, signal);
      return images;
    },
    async back(previous) {
      const observed = await observe(parts.engine, previous.release, signal);
      const services = parts.replan(previous.release, observed, release);
      await applyStack(parts, {
        next: previous,
        services,
        // The engine may have rolled some back itself, and report that before their tasks run.
        verify: changed(work.services).filter((name) =>
          previous.release.services.some((each) => each.name === name)
        ),
        liveNow: release.live,
        timeoutSeconds: Math.max(previous.release.timeoutSeconds, work.timeoutSeconds),
      }, signal);
      return saidOfBack(services, work.services, "no service had to be changed");
    },
  }, signal);
}

/** The rest of a rollout that was interrupted because the engine went away. */
async function planAgain(
  parts: StackRolloutParts,
  work: StackRollout,
  signal: AbortSignal,
): Promise<StackRollout> {
  const { release } = work.next;
  const observed = await observe(parts.engine, release, signal);
  const services = parts.replan(release, observed, release);
  return { ...work, services, verify: [...changed(work.services), ...work.verify ?? []] };
}

function changed(services: readonly ServicePlan[]): string[] {
  return services.filter(({ action }) => action !== "keep" && action !== "remove")
    .map(({ name }) => name);
}

/** Removes old configs and secrets; only logs a failure, since the release itself is healthy. */
async function prune(
  parts: StackRolloutParts,
  { next, previous }: StackRollout,
  signal: AbortSignal,
): Promise<void> {
  const { key } = next.release;
  try {
    const api = await parts.engine.apiVersion(signal);
    const before = previous?.release.swarm === undefined
      ? []
      : (await stackOf(parts.swarm, previous, api)).objects;
    const needed = new Set(before.map(({ name }) => name));
    const { retention } = parts.swarm;
    await pruneObjects(parts.engine, { stack: key.name, retention, needed }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const text = `old configs and secrets were not removed: ${messageOf(error)}`;
    parts.log.warning(text, { stack: key.name, context: key.context });
  }
}
