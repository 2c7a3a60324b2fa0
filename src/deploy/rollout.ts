import type { ObservedStack } from "../model/mod.ts";
import { attempted } from "./attempts.ts";
import { applyRelease } from "./apply_release.ts";
import type { Rollout, RolloutParts, RolloutResult } from "./rollout_words.ts";
import { observe } from "./observe.ts";
import { clearHalfReplaced } from "./compose/half_replaced.ts";
import type { FailedUpdate } from "./backend.ts";
import { restore, startAgain } from "./put_back.ts";

/**
 * Carries a plan out: switches the files, changes the containers, waits until they are healthy.
 * After a failure it puts the previous release back as a whole.
 *
 * Rejects only with the signal's reason: the ledger's open intent resumes it at the next start.
 */
export async function rollout(
  parts: RolloutParts,
  work: Rollout,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { key } = work.next.release;
  const endangered = new Set<string>();
  const onStop = (ids: readonly string[]) => ids.forEach((id) => endangered.add(id));
  const failed: FailedUpdate[] = [];
  const onFailed = (failure: FailedUpdate) => void failed.push(failure);
  return await attempted(parts, work, {
    async forward(isRest) {
      failed.length = 0;
      const now = isRest ? await planAgain(parts, work, signal) : work;
      const watch = { onStop, onFailed, watchesKept: true };
      const seen = await applyRelease(parts, now, watch, signal);
      if (failed[0] !== undefined) throw failed[0].error;
      return imagesByService(seen ?? await observe(parts.engine, { key }, signal));
    },
    async failed(error) {
      // New containers that wait beside serving ones disturb nobody, but waste memory.
      await clearHalfReplaced(parts.engine, key, signal).catch(() => signal.throwIfAborted());
      return failed.find((each) => each.error === error)?.action;
    },
    back: (previous) => restore(parts, { ...work, previous, endangered }, signal),
  }, signal);
}

/** The rest of a rollout that was interrupted because the engine went away. */
async function planAgain(
  parts: RolloutParts,
  work: Rollout,
  signal: AbortSignal,
): Promise<Rollout> {
  const { release } = work.next;
  const observed = await clearHalfReplaced(parts.engine, release.key, signal);
  const planned = parts.replan(release, observed, release);
  const begun = work.services.filter((each) => each.action !== "keep").map((each) => each.name);
  return {
    ...work,
    services: startAgain(planned, work.ranBefore, { desired: release.services, observed }),
    verify: [...new Set([...begun, ...work.verify ?? []])],
  };
}

/** The image each service runs. */
export function imagesByService(observed: ObservedStack): Record<string, string> {
  return Object.fromEntries(observed.containers.map((each) => [each.service, each.imageId]));
}
