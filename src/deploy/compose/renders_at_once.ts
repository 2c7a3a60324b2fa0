import type { MachineFacts } from "../../system/mod.ts";

/** What `docker compose config` takes of a usual project, generously: 75 MB were measured. */
const RENDER_BYTES = 128 * 1024 * 1024;

/**
 * The number of projects compose renders side by side: it works all the time it runs, so that more
 * than there are processors only take memory, and all of them together take a quarter of that at
 * most.
 */
export function rendersAtOnce({ processors, memoryBytes }: MachineFacts): number {
  return Math.max(1, Math.min(processors, Math.floor(memoryBytes / 4 / RENDER_BYTES)));
}
