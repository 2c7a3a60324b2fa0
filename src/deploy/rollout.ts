import { type ObservedStack, toStackwrightError } from "../model/mod.ts";
import { applyRelease } from "./apply_release.ts";
import type { Rollout, RolloutParts, RolloutResult } from "./rollout_words.ts";
import { observe } from "./observe.ts";
import { engineWasAway } from "./engine_away.ts";
import { clearHalfReplaced } from "./compose/half_replaced.ts";
import type { FailedUpdate } from "./backend.ts";
import { putBack, startAgain } from "./put_back.ts";

/** Number of times that a release is begun while the engine goes away in the middle: it may be its doing. */
const MOST_ATTEMPTS = 3;

/**
 * Carries a plan out: switches the files, changes the containers, waits until they are healthy. A
 * failure after that point puts the previous release back as a whole.
 *
 * Rejects only with the signal's reason: then the ledger's open intent leads the next start back here.
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
  for (let attempt = 1;; attempt++) {
    failed.length = 0;
    try {
      const now = attempt === 1 ? work : await planAgain(parts, work, signal);
      const watch = { onStop, onFailed, watchesKept: true };
      const seen = await applyRelease(parts, now, watch, signal);
      if (failed[0] !== undefined) throw failed[0].error;
      const after = seen ?? await observe(parts.engine, { key }, signal);
      return { kind: "deployed", images: imagesByService(after) };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toStackwrightError(thrown, `deploying ${key.name}`);
      const wasAway = await engineWasAway(parts, error, signal);
      if (wasAway && attempt < MOST_ATTEMPTS) continue;
      // What waits beside the containers that serve is in nobody's way, but takes memory for nothing.
      await clearHalfReplaced(parts.engine, key, signal).catch(() => signal.throwIfAborted());
      const action = failed.find((each) => each.error === error)?.action;
      return await putBack(parts, work, { error, endangered, action }, signal);
    }
  }
}

/** The rest of a rollout that an engine which went away cut off. */
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
