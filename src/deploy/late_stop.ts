import type { Engine } from "../docker/engine.ts";
import type { Clock } from "../system/mod.ts";
import { SAMPLE_INTERVAL_MS } from "./looks.ts";

/** Seconds the engine may take beyond a container's own grace period. */
const MARGIN_SECONDS = 2;

/**
 * True when one of the running containers ends, as far as somebody told the engine to stop it
 * already. A stop goes on when whoever asked for it is gone, the engine shows nothing of it, and a
 * container that was stopped is not restarted: only waiting for its grace period tells. Returns at
 * the first that ends.
 */
export async function stopsLate(
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
