import type { Engine } from "../docker/engine.ts";
import {
  type ObservedStack,
  type ReleaseService,
  type ServicePlan,
  type StackwrightError,
  toStackwrightError,
  withFollowers,
} from "../model/mod.ts";
import { applyRelease } from "./apply_release.ts";
import { engineWasAway } from "./engine_away.ts";
import { leftBehind } from "./left_behind.ts";
import { imagesPresent, pointTags } from "./point_tags.ts";
import { clearHalfReplaced } from "./compose/half_replaced.ts";
import type { ReleaseOnDisk, Rollout, RolloutParts, RolloutResult } from "./rollout_words.ts";
import type { FailureAction } from "./update/update_config.ts";
import type { Clock } from "../system/mod.ts";
import { SAMPLE_INTERVAL_MS } from "./looks.ts";

/** Number of times that a release is put back before that is given up. */
const MOST_ATTEMPTS = 3;
/** Number of times that it is tried once more because the engine was away. */
const MOST_RETURNS = 10;
/** Milliseconds before the second attempt; twice as many before the third. */
const FIRST_PAUSE_MS = 1000;

interface Failure {
  readonly error: StackwrightError;
  /** Ids of containers that it may have told the engine to stop. */
  readonly endangered: Set<string>;
  /** What the author of the service that failed wants done then; the setting decides without it. */
  readonly action?: FailureAction | undefined;
}

/**
 * Puts the release back that ran before a failed one, where there is one and it is wanted. A call that
 * fails on the way is no reason to leave a service down: then it is tried again, from what runs then.
 */
export async function putBack(
  parts: RolloutParts,
  work: Rollout,
  { error, endangered, action }: Failure,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { previous } = work;
  const { key } = work.next.release;
  if (previous === undefined) {
    const text = await leftBehind(parts.engine, work.next.release, signal);
    return { kind: "failed", error, text };
  }
  if (action === "pause" || action === "continue") {
    return { kind: "failed", error, text: `failure_action is ${action}: left as it is` };
  }
  if (!work.rollback && action !== "rollback") {
    return { kind: "failed", error, text: "DEPLOY_ROLLBACK is off: left as it is" };
  }
  const log = parts.log.with({ stack: key.name, context: key.context });
  log.warning("rolling back", { error });
  parts.progress("rolling back");
  for (let attempt = 1, returns = 0;; attempt++) {
    try {
      const what = await restore(parts, { ...work, previous, endangered }, signal);
      return { kind: "rolled_back", error, text: `the previous release was put back: ${what}` };
    } catch (thrown) {
      signal.throwIfAborted();
      const second = toStackwrightError(thrown, "putting the previous release back");
      if (await engineWasAway(parts, second, signal) && ++returns <= MOST_RETURNS) {
        attempt--;
        continue;
      }
      if (attempt === MOST_ATTEMPTS || second.code === "unhealthy") {
        const text = `putting the previous release back failed too: ${second.message}`;
        return { kind: "failed", error, text };
      }
      log.warning(`rolling back again: ${second.message}`);
      await parts.clock.sleep(FIRST_PAUSE_MS * attempt, signal);
    }
  }
}

interface Restoration extends Rollout {
  readonly previous: ReleaseOnDisk;
  readonly endangered: Set<string>;
}

/** One attempt; returns what was restored, in words. */
async function restore(
  parts: RolloutParts,
  work: Restoration,
  signal: AbortSignal,
): Promise<string> {
  const { next, previous, endangered } = work;
  const { key } = next.release;
  await parts.slot.takeAgain(signal);
  await pointTags(parts.engine, previous.release.services, work.previousImages, signal);
  const observed = await clearHalfReplaced(parts.engine, key, signal);
  const planned = parts.replan(previous.release, observed, next.release);
  const services = startAgain(planned, work.ranBefore, {
    desired: previous.release.services,
    observed,
  });
  await parts.fetchImages(previous, services, signal);
  const back: Rollout = {
    ...work,
    next: previous,
    images: await imagesPresent(
      parts.engine,
      previous.release.services,
      work.previousImages,
      signal,
    ),
    // What failed may be a limit that is too short, and that must not fail here again.
    timeoutSeconds: Math.max(previous.release.timeoutSeconds, work.timeoutSeconds),
    previous: next,
    way: "back",
    services,
    verify: [],
    liveNow: next.release.live,
  };
  const onStop = (ids: readonly string[]) => ids.forEach((id) => endangered.add(id));
  // What the failed release broke is still broken at this moment.
  await applyRelease(parts, back, { onStop, watchesKept: false }, signal);
  // What still runs may be dying: the step that was cut had asked for it.
  const kept = services.filter((each) => each.action === "keep").map((each) => each.name);
  const doubtful = observed.containers.filter((each) =>
    each.state === "running" && endangered.has(each.id) && kept.includes(each.service)
  ).map((each) => each.id);
  if (doubtful.length > 0) parts.progress("making sure that nothing is being stopped");
  if (await stopsLate(parts, doubtful, signal)) return await restore(parts, work, signal);
  const restored = services.filter((each) => each.action !== "keep").map((each) => each.name);
  return restored.length === 0 ? "no container had changed" : `restored ${restored.join(", ")}`;
}

/**
 * A service that stopped in the middle of a replacement carries the right digest, and its restart
 * policy may say that it is allowed to be stopped. It ran before, so it runs again.
 */
export function startAgain(
  planned: readonly ServicePlan[],
  ranBefore: readonly string[],
  { desired, observed }: {
    readonly desired: readonly ReleaseService[];
    readonly observed: ObservedStack;
  },
): ServicePlan[] {
  const stopped = stoppedServices(observed);
  const started = planned.map((each): ServicePlan =>
    each.action === "keep" && stopped.has(each.name) && ranBefore.includes(each.name)
      ? { name: each.name, action: "start", because: ["it ran before, and was stopped on the way"] }
      : each
  );
  return withFollowers(started, desired, observed);
}

function stoppedServices({ containers }: ObservedStack): ReadonlySet<string> {
  const running = new Set(
    containers.filter((each) => each.state === "running").map((each) => each.service),
  );
  return new Set(containers.map((each) => each.service).filter((name) => !running.has(name)));
}

/** Seconds the engine may take beyond a container's own grace period. */
const MARGIN_SECONDS = 2;

/**
 * True when one of the running containers ends, as far as somebody told the engine to stop it
 * already. A stop goes on when whoever asked for it is gone, the engine shows nothing of it, and a
 * container that was stopped is not restarted: only waiting for its grace period tells. Returns at
 * the first that ends.
 */
async function stopsLate(
  { engine, clock }: { readonly engine: Engine; readonly clock: Clock },
  ids: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  let left = 0;
  for (let waited = 0; ids.length > 0; waited += SAMPLE_INTERVAL_MS) {
    for (const id of ids) {
      const details = await engine.inspectContainer(id, signal);
      if (details === undefined || details.container.state !== "running") return true;
      left = Math.max(left, details.stopTimeoutSeconds);
    }
    if (waited >= (left + MARGIN_SECONDS) * 1000) return false;
    await clock.sleep(SAMPLE_INTERVAL_MS, signal);
  }
  return false;
}
