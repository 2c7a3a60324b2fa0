import type { Engine } from "../docker/engine.ts";
import { type ErrorCode, type StackwrightError, toStackwrightError } from "../model/mod.ts";
import { engineWasAway } from "./engine_away.ts";
import { observe, type StackPlace } from "./observe.ts";
import type { ReleaseOnDisk, Rollout, RolloutParts, RolloutResult } from "./rollout_words.ts";
import type { FailureAction } from "./update/update_config.ts";

/** Number of attempts at a release if the engine goes away, and at putting one back. */
const MOST_ATTEMPTS = 3;
/** Number of extra attempts at putting a release back because the engine was away. */
const MOST_RETURNS = 10;
/** Milliseconds before the second attempt at putting back; twice as many before the third. */
const FIRST_PAUSE_MS = 1000;

/** Failures that another attempt a second later has as well: checks refuse what they refused. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  "build_failed",
  "config_invalid",
  "conflict",
  "path_escapes",
  "unhealthy",
  "unsupported",
]);

/** Ways from one release to the next, and back, for containers or for the services of a swarm. */
interface Attempts<Previous> {
  /** Carries out the plan, or what an unreachable engine left of it. Returns the image of each service. */
  forward(isRest: boolean): Promise<Readonly<Record<string, string>>>;
  /** Clears up after a failure; returns the author's `failure_action`, where one is set. */
  failed?(error: StackwrightError): Promise<FailureAction | undefined>;
  /** Puts the previous release back, from what runs now; returns what was restored, in words. */
  back(previous: Previous): Promise<string>;
}

type AttemptParts = Pick<RolloutParts, "engine" | "clock" | "log" | "progress">;

interface Attempted<Previous> extends Pick<Rollout, "next" | "rollback"> {
  readonly previous: Previous | undefined;
}

/**
 * Rolls a release out, and puts the previous one back as a whole after a failure. An attempt that
 * the engine interrupts by going away is begun again.
 *
 * Rejects only with the signal's reason: the ledger's open intent then resumes it at the next
 * start.
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
 * Puts the previous release back, where one exists and rollback is wanted. Tries again after a
 * failed call, from what runs then: one failed call must not leave a service down.
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
      if (attempt === MOST_ATTEMPTS || FINAL.has(second.code)) {
        return failed(`putting the previous release back failed too: ${second.message}`);
      }
      log.warning(`rolling back again: ${second.message}`);
      await parts.clock.sleep(FIRST_PAUSE_MS * attempt, signal);
    }
  }
}

/**
 * Words about a first deployment that failed: whether containers or services were left for
 * inspection. Leaves that out when the engine does not answer; throws only the signal's reason.
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
