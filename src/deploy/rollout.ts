import {
  type LiveManifest,
  type ObservedStack,
  type Release,
  type ServicePlan,
  type StackwrightError,
  toStackwrightError,
} from "../model/mod.ts";
import { type ApplyParts, applyRelease, type Placed } from "./apply_release.ts";
import { observe } from "./observe.ts";
import { engineWasAway } from "./engine_away.ts";
import { clearHalfReplaced } from "./compose/half_replaced.ts";
import { putBack, startAgain } from "./put_back.ts";

/** How often a release is begun while the engine goes away in the middle: it may be its doing. */
const MOST_ATTEMPTS = 3;

/** What a rollout works with. */
export interface RolloutParts extends ApplyParts {
  /** Decides again, from what runs now, how to get from the release that failed to another. */
  replan(release: Release, observed: ObservedStack, failed: Release): readonly ServicePlan[];
  /** Fetches the images that a plan for a release which ran before needs and that are gone. */
  fetchImages(
    placed: Placed,
    services: readonly ServicePlan[],
    signal: AbortSignal,
  ): Promise<void>;
}

/** One rollout. */
export interface Rollout {
  readonly next: Placed;
  readonly services: readonly ServicePlan[];
  /** Services that must be healthy although nothing is done to them now. */
  readonly verify?: readonly string[];
  /** What runs now and is put back if `next` fails; absent on a first deployment. */
  readonly previous: Placed | undefined;
  /** Services that ran when the plan was made: they run again, also after a rollback. */
  readonly ranBefore: readonly string[];
  /** What lies under `live/` now. */
  readonly liveNow: LiveManifest;
  /** Images the previous release ran, by service, to point its tags at again. */
  readonly previousImages: Readonly<Record<string, string>>;
  /** Seconds until a release must be healthy. */
  readonly timeoutSeconds: number;
  /** Whether to put the previous release back after a failure. */
  readonly rollback: boolean;
}

/** How a rollout ended. */
export type RolloutResult =
  | { readonly kind: "deployed"; readonly images: Readonly<Record<string, string>> }
  | { readonly kind: "failed"; readonly error: StackwrightError; readonly text: string }
  | { readonly kind: "rolled_back"; readonly error: StackwrightError; readonly text: string };

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
  for (let attempt = 1;; attempt++) {
    try {
      const now = attempt === 1 ? work : await planAgain(parts, work, signal);
      const { next: placed, liveNow: liveBefore } = work;
      await applyRelease(parts, { ...now, placed, liveBefore, onStop, watchesKept: true }, signal);
      const after = await observe(parts.engine, key, signal);
      return { kind: "deployed", images: imagesByService(after) };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toStackwrightError(thrown, `deploying ${key.name}`);
      const wasAway = await engineWasAway(parts, error, signal);
      if (wasAway && attempt < MOST_ATTEMPTS) continue;
      return await putBack(parts, work, { error, endangered }, signal);
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
  await clearHalfReplaced(parts.engine, release.key, signal);
  const observed = await observe(parts.engine, release.key, signal);
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
