import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../../src/system/mod.ts";

/** Bytes in use when nothing is left that nobody needs. */
export async function heapAfterCollection(): Promise<number> {
  const { Bun: bun } = globalThis as { readonly Bun?: { gc(force: boolean): void } };
  if (bun === undefined) setFlagsFromString("--expose-gc");
  const collect: () => void = bun === undefined ? runInNewContext("gc") : () => bun.gc(true);
  for (let time = 0; time < 3; time++) {
    await systemClock.sleep(20, new AbortController().signal);
    collect();
  }
  return process.memoryUsage().heapUsed;
}
