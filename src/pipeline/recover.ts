import { clearHalfReplaced, engineWasAway, observe, startAgain } from "../deploy/mod.ts";
import {
  formatStackKey,
  isStackwrightError,
  messageOf,
  type ReleaseService,
} from "../model/mod.ts";
import { planFor } from "../plan/mod.ts";
import type { Intent } from "../record/ledger.ts";
import { bringToDisk, finishRollout } from "./carry_out.ts";
import { finishDestroy } from "./destroy_target.ts";
import type { PipelineParts } from "./parts.ts";
import type { Slot } from "../system/mod.ts";
import { requireImages } from "../prepare/mod.ts";

/**
 * Finishes what was under way when the process ended, before anything else may deploy: a release is
 * rolled out to its end or rolled back, a destroy is completed. What cannot be finished now stays
 * open, is logged, and is tried again at the next start; it keeps nothing else from working.
 * Stacks are finished side by side, as they were begun: many may have been watched at once.
 */
export async function recover(parts: PipelineParts, signal: AbortSignal): Promise<void> {
  const finish = async (intent: Intent) => {
    const log = parts.log.with({ stack: intent.key.name, context: intent.key.context });
    try {
      log.warning(`resuming an interrupted ${intent.kind}`);
      const resume = (slot: Slot) => resumeWithEngine(parts, intent, slot, signal);
      await parts.stackLock.run(
        formatStackKey(intent.key),
        () => parts.deploying.run(resume, signal),
        signal,
      );
    } catch (error) {
      signal.throwIfAborted();
      log.error(`an interrupted ${intent.kind} could not be finished: ${messageOf(error)}`, {
        error,
      });
    }
  };
  await Promise.allSettled(parts.ledger.openIntents().map(finish));
  signal.throwIfAborted();
}

/** An engine that goes away again meanwhile is waited for: nobody may come back for the intent. */
async function resumeWithEngine(
  parts: PipelineParts,
  intent: Intent,
  slot: Slot,
  signal: AbortSignal,
): Promise<void> {
  const log = parts.log.with({ stack: intent.key.name, context: intent.key.context });
  for (;;) {
    try {
      return await resume(parts, intent, slot, signal);
    } catch (error) {
      signal.throwIfAborted();
      const progress = (step: string) => log.debug(step);
      if (!isStackwrightError(error, "engine_unreachable")) throw error;
      await engineWasAway(
        { engine: parts.host.engine, clock: parts.clock, log, progress },
        error,
        signal,
      );
    }
  }
}

async function resume(
  parts: PipelineParts,
  intent: Intent,
  slot: Slot,
  signal: AbortSignal,
): Promise<void> {
  const log = parts.log.with({ stack: intent.key.name, context: intent.key.context });
  if (intent.kind === "destroy") return void await finishDestroy(parts, intent, signal);
  const recorded = intent.releaseId === undefined
    ? undefined
    : parts.ledger.release(intent.releaseId);
  const next = recorded === undefined ? undefined : await bringToDisk(parts, recorded, signal);
  if (next === undefined) {
    parts.ledger.fail(intent, "failed", "interrupted, and its files cannot be had any more");
    return;
  }
  await clearHalfReplaced(parts.host.engine, intent.key, signal);
  const observed = await observe(parts.host.engine, intent.key, signal);
  const desired = next.release.services;
  const deployed = parts.ledger.current(intent.key)?.services;
  const plan = planFor(desired, observed, { kind: "resumed", deployed });
  const services = startAgain(plan.services, intent.ranBefore, { desired, observed });
  const progress = (step: string) => log.debug(step);
  try {
    await requireImages(parts, next, { services, progress }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Then the rollout fails, and puts back what ran before.
    log.warning(messageOf(error));
  }
  await finishRollout(
    parts,
    {
      next,
      services,
      verify: changedSince(deployed, desired),
      observed,
      removeOrphans: false,
      pruneImages: false,
      timeoutSeconds: next.release.timeoutSeconds,
      automatic: true,
      progress,
      slot,
    },
    intent,
    signal,
  );
}

/** Services that the interrupted rollout may have replaced already, without seeing them healthy. */
function changedSince(
  before: readonly ReleaseService[] | undefined,
  services: readonly ReleaseService[],
): string[] {
  const digests = new Map((before ?? []).map((each) => [each.name, each.digest]));
  return services.filter((each) => digests.get(each.name) !== each.digest).map((each) => each.name);
}
