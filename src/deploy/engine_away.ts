import type { Engine } from "../docker/engine.ts";
import { isStackwrightError, messageOf, type Progress } from "../model/mod.ts";
import type { Clock, Log } from "../system/mod.ts";

/** Milliseconds between two checks whether the engine is back: first, and at most. */
const PAUSE_MS = { first: 500, longest: 10_000 } as const;

/** Messages of compose when it cannot reach the engine. */
const NOT_REACHED = /cannot connect to the docker daemon|error during connect/i;

interface EngineWaitParts {
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
  const isSaid = isStackwrightError(error, "engine_unreachable") ||
    NOT_REACHED.test(messageOf(error));
  return await waitForEngine(parts, signal) || isSaid;
}

/** Waits until the engine answers; returns whether it was away. */
async function waitForEngine(parts: EngineWaitParts, signal: AbortSignal): Promise<boolean> {
  for (let pause: number = PAUSE_MS.first, hadToWait = false;;) {
    try {
      await parts.engine.info(signal);
      return hadToWait;
    } catch (error) {
      signal.throwIfAborted();
      if (!isStackwrightError(error, "engine_unreachable")) return hadToWait;
      if (!hadToWait) parts.log.warning(`waiting for the engine: ${error.message}`);
      hadToWait = true;
      parts.progress("waiting for the engine");
      await parts.clock.sleep(pause, signal);
      pause = Math.min(2 * pause, PAUSE_MS.longest);
    }
  }
}
