import type { MachineFacts } from "../../system/mod.ts";

/** What `docker compose config` takes of a usual project, generously: 75 MB were measured. */
const RENDER_BYTES = 128 * 1024 * 1024;

/**
 * The number of projects compose renders side by side: it works all the time it runs. One for every two
 * processors keeps ahead of the engine, which takes longer for a container than compose for a model;
 * more only take memory. All of them together take a quarter of that at most.
 */
export function rendersAtOnce({ processors, memoryBytes }: MachineFacts): number {
  const atOnce = Math.min(Math.ceil(processors / 2), Math.floor(memoryBytes / 4 / RENDER_BYTES));
  return Math.max(1, atOnce);
}
