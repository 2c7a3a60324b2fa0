import type { Engine } from "../docker/engine.ts";
import { observe, type StackPlace } from "./observe.ts";

/**
 * Words about a first deployment that failed: whether it left something to look at. Says nothing of
 * that where the engine does not answer; throws only the signal's reason.
 */
export async function leftBehind(
  engine: Engine,
  place: StackPlace,
  signal: AbortSignal,
): Promise<string> {
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
