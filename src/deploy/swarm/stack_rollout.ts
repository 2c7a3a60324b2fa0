import {
  messageOf,
  type ServicePlan,
  type StackwrightError,
  toStackwrightError,
} from "../../model/mod.ts";
import { engineWasAway } from "../engine_away.ts";
import { leftBehind } from "../left_behind.ts";
import { observe } from "../observe.ts";
import type { Rollout, RolloutResult } from "../rollout_words.ts";
import { applyStack } from "./apply_stack.ts";
import { pruneObjects } from "./prune_objects.ts";
import type { StackRelease, StackRolloutParts } from "./stack_words.ts";
import { stackOf } from "./stack_of.ts";

/** Number of times that a release is begun while the engine goes away in the middle. */
const MOST_ATTEMPTS = 3;

/** A rollout of a stack. */
interface StackRollout
  extends Pick<Rollout, "services" | "verify" | "liveNow" | "timeoutSeconds" | "rollback"> {
  readonly next: StackRelease;
  /** What runs now, as far as it is known; absent on a first deployment. */
  readonly previous: StackRelease | undefined;
}

/**
 * Carries a plan for a stack out. A failure puts the previous release back as a whole: the engine's own
 * rollback is of one service, and a second one brings the bad release back.
 *
 * Rejects only with the signal's reason: then the ledger's open intent leads the next start back here.
 */
export async function rolloutStack(
  parts: StackRolloutParts,
  work: StackRollout,
  signal: AbortSignal,
): Promise<RolloutResult> {
  for (let attempt = 1;; attempt++) {
    try {
      const now = attempt === 1 ? work : await planAgain(parts, work, signal);
      await applyStack(parts, { ...now, verify: now.verify ?? [] }, signal);
      const images = await runningImages(parts, work.next, signal);
      await prune(parts, work, signal);
      return { kind: "deployed", images };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toStackwrightError(thrown, `deploying ${work.next.release.key.name}`);
      if (await engineWasAway(parts, error, signal) && attempt < MOST_ATTEMPTS) continue;
      return await putBack(parts, work, error, signal);
    }
  }
}

/** The rest of a rollout that an engine which went away cut off. */
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

async function putBack(
  parts: StackRolloutParts,
  work: StackRollout,
  error: StackwrightError,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { previous, next } = work;
  if (previous === undefined) {
    const text = await leftBehind(parts.engine, next.release, signal);
    return { kind: "failed", error, text };
  }
  if (!work.rollback) {
    return { kind: "failed", error, text: "DEPLOY_ROLLBACK is off: left as it is" };
  }
  const { key, timeoutSeconds } = previous.release;
  const log = parts.log.with({ stack: key.name, context: key.context });
  log.warning("rolling back", { error });
  parts.progress("rolling back");
  for (let attempt = 1;; attempt++) {
    try {
      const observed = await observe(parts.engine, previous.release, signal);
      const services = parts.replan(previous.release, observed, next.release);
      await applyStack(parts, {
        next: previous,
        services,
        // The engine may have taken some of them back by itself, and says so before they run.
        verify: changed(work.services).filter((name) =>
          previous.release.services.some((each) => each.name === name)
        ),
        liveNow: next.release.live,
        timeoutSeconds: Math.max(timeoutSeconds, work.timeoutSeconds),
      }, signal);
      const restored = services.filter(({ action }) => action !== "keep").map(({ name }) => name);
      const what = restored.length === 0
        ? "no service had to be changed"
        : `restored ${restored.join(", ")}`;
      return { kind: "rolled_back", error, text: `the previous release was put back: ${what}` };
    } catch (thrown) {
      signal.throwIfAborted();
      const second = toStackwrightError(thrown, "putting the previous release back");
      const isAway = await engineWasAway(parts, second, signal);
      if (!isAway && (attempt >= MOST_ATTEMPTS || second.code === "unhealthy")) {
        const text = `putting the previous release back failed too: ${second.message}`;
        return { kind: "failed", error, text };
      }
      log.warning(`rolling back again: ${second.message}`);
    }
  }
}

/** The image that each service runs, with its digest where one was found. */
async function runningImages(
  { engine }: StackRolloutParts,
  { release }: StackRelease,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const { containers } = await observe(engine, release, signal);
  return Object.fromEntries(containers.map((each) => [each.service, each.imageId]));
}

/** What is too much is removed another time: no reason to fail a release that is good. */
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
