import type { MachineFacts } from "../../system/mod.ts";

/** Bytes that `docker compose config` may take for a usual project: 75 MB were measured. */
const RENDER_BYTES = 128 * 1024 * 1024;

/**
 * The number of projects to render at once, each of which keeps a processor busy. One for every two
 * processors keeps ahead of the engine, which takes longer for a container than compose for a
 * model. Together they may take a quarter of the memory.
 */
export function rendersAtOnce({ processors, memoryBytes }: MachineFacts): number {
  const atOnce = Math.min(Math.ceil(processors / 2), Math.floor(memoryBytes / 4 / RENDER_BYTES));
  return Math.max(1, atOnce);
}
