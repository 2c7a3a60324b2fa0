import type { Engine } from "../docker/engine.ts";
import { isStackwrightError, messageOf, type Progress } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";

/** Milliseconds between two checks whether the engine is back: first, and at most. */
const PAUSE_MS = { first: 500, longest: 10_000 } as const;

/** Messages of compose when it cannot reach the engine, and of a proxy before the engine that cannot. */
const NOT_REACHED =
  /cannot connect to the docker daemon|error during connect|^engine refused \w+ \S+: 50[24]\b/i;
/** What a manager says of services while its swarm has no leader, and starts no tasks; containers need none. */
const LEADERLESS = /does not have a leader|context deadline exceeded/;
/** Milliseconds before a call is made again. */
const AGAIN_MS = 1000;

/** Ports for waiting for an engine that is away. */
export interface EngineWaitParts {
  readonly engine: Pick<Engine, "info">;
  readonly clock: Clock;
  readonly log: Log;
  readonly progress: Progress;
}

/**
 * Tells whether `error` came from an engine that was away rather than from the release, and returns
 * only when the engine answers again, however long that takes: an engine that is updated or
 * restarted is away for a while, and nothing can be repaired without it.
 *
 * Rejects with the signal's reason.
 */
export async function engineWasAway(
  parts: EngineWaitParts,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  return await waitForEngine(parts, signal) || saysAway(error);
}

/** Whether an error says that nobody reached the engine: what was asked of it may have been done or not. */
export function saysAway(error: unknown): boolean {
  return isStackwrightError(error, "engine_unreachable") || NOT_REACHED.test(messageOf(error));
}

/** Whether an engine refused what is asked of a swarm as that has no leader. */
export function isLeaderless(error: unknown): boolean {
  return isStackwrightError(error, "engine_refused") && LEADERLESS.test(error.message);
}

/**
 * Does work that may be done again, from its beginning, until neither the engine nor the leader of its swarm
 * was away meanwhile, however long that takes. Rejects with any other error, and with the signal's reason.
 */
export async function outlasting<T>(
  parts: EngineWaitParts,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await work(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isLeaderless(error) && !await engineWasAway(parts, error, signal)) throw error;
      await parts.clock.sleep(AGAIN_MS, signal);
    }
  }
}

/** Waits until the engine answers; returns whether it was away. */
async function waitForEngine(parts: EngineWaitParts, signal: AbortSignal): Promise<boolean> {
  for (let pause: number = PAUSE_MS.first, hadToWait = false;;) {
    try {
      await parts.engine.info(signal);
      return hadToWait;
    } catch (error) {
      signal.throwIfAborted();
      if (!saysAway(error)) return hadToWait;
      if (!hadToWait) parts.log.warning(`waiting for the engine: ${messageOf(error)}`);
      hadToWait = true;
      parts.progress("waiting for the engine");
      await parts.clock.sleep(pause, signal);
      pause = Math.min(2 * pause, PAUSE_MS.longest);
    }
  }
}
