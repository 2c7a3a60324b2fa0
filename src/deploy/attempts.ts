import type { Engine } from "../docker/engine.ts";
import { type StackwrightError, toStackwrightError } from "../model/mod.ts";
import { engineWasAway } from "./engine_away.ts";
import { observe, type StackPlace } from "./observe.ts";
import type { ReleaseOnDisk, Rollout, RolloutParts, RolloutResult } from "./rollout_words.ts";
import type { FailureAction } from "./update/update_config.ts";

/** Number of times that a release is begun while the engine goes away in the middle, or is put back. */
const MOST_ATTEMPTS = 3;
/** Number of times that it is put back once more because the engine was away. */
const MOST_RETURNS = 10;
/** Milliseconds before it is put back for the second time; twice as many before the third. */
const FIRST_PAUSE_MS = 1000;

/** The ways in which containers, or services of a swarm, come from one release to the next, and back. */
interface Attempts<Previous> {
  /**
   * Carries the plan out, or, where an engine that went away cut it off, the rest of it. Returns the image
   * of each service.
   */
  forward(isRest: boolean): Promise<Readonly<Record<string, string>>>;
  /** Clears up after a failure; what its author wants done then, where that says so. */
  failed?(error: StackwrightError): Promise<FailureAction | undefined>;
  /** Puts the release before back, from what runs then; returns what was restored, in words. */
  back(previous: Previous): Promise<string>;
}

type AttemptParts = Pick<RolloutParts, "engine" | "clock" | "log" | "progress">;

/** A rollout as far as attempts at it depend on it. */
interface Attempted<Previous> extends Pick<Rollout, "next" | "rollback"> {
  readonly previous: Previous | undefined;
}

/**
 * Rolls a release out, and puts the one before back as a whole after a failure. What an engine that goes
 * away cuts off is begun again.
 *
 * Rejects only with the signal's reason: then the ledger's open intent leads the next start back here.
 */
export async function attempted<Previous extends ReleaseOnDisk>(
  parts: AttemptParts,
  work: Attempted<Previous>,
  attempts: Attempts<Previous>,
  signal: AbortSignal,
): Promise<RolloutResult> {
  for (let attempt = 1;; attempt++) {
    try {
      return { kind: "deployed", images: await attempts.forward(attempt > 1) };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toStackwrightError(thrown, `deploying ${work.next.release.key.name}`);
      if (await engineWasAway(parts, error, signal) && attempt < MOST_ATTEMPTS) continue;
      return await putBack(parts, work, attempts, error, signal);
    }
  }
}

/**
 * Puts the release back that ran before a failed one, where there is one and it is wanted. A call that
 * fails on the way is no reason to leave a service down: then it is tried again, from what runs then.
 */
async function putBack<Previous extends ReleaseOnDisk>(
  parts: AttemptParts,
  { next: { release }, previous, rollback }: Attempted<Previous>,
  attempts: Attempts<Previous>,
  error: StackwrightError,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const failed = (text: string): RolloutResult => ({ kind: "failed", error, text });
  const action = await attempts.failed?.(error);
  if (previous === undefined) return failed(await leftBehind(parts.engine, release, signal));
  if (action === "pause" || action === "continue") {
    return failed(`failure_action is ${action}: left as it is`);
  }
  if (!rollback && action !== "rollback") return failed("DEPLOY_ROLLBACK is off: left as it is");
  const log = parts.log.with({ stack: release.key.name, context: release.key.context });
  log.warning("rolling back", { error });
  parts.progress("rolling back");
  for (let attempt = 1, returns = 0;; attempt++) {
    try {
      const text = `the previous release was put back: ${await attempts.back(previous)}`;
      return { kind: "rolled_back", error, text };
    } catch (thrown) {
      signal.throwIfAborted();
      const second = toStackwrightError(thrown, "putting the previous release back");
      if (await engineWasAway(parts, second, signal) && ++returns <= MOST_RETURNS) {
        attempt--;
        continue;
      }
      if (attempt === MOST_ATTEMPTS || second.code === "unhealthy") {
        return failed(`putting the previous release back failed too: ${second.message}`);
      }
      log.warning(`rolling back again: ${second.message}`);
      await parts.clock.sleep(FIRST_PAUSE_MS * attempt, signal);
    }
  }
}

/**
 * Words about a first deployment that failed: whether it left something to look at. Says nothing of
 * that where the engine does not answer; throws only the signal's reason.
 */
async function leftBehind(engine: Engine, place: StackPlace, signal: AbortSignal): Promise<string> {
  const nothingBefore = "there is no earlier release to go back to";
  const what = place.swarm === undefined ? "container" : "service";
  try {
    const { containers, idle = [] } = await observe(engine, place, signal);
    return containers.length + idle.length === 0
      ? `${nothingBefore}, and no ${what} was made`
      : `${nothingBefore}: its ${what}s were left for inspection`;
  } catch {
    signal.throwIfAborted();
    return nothingBefore;
  }
}
