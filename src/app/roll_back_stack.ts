import type { Progress, StackKey } from "../model/mod.ts";
import { rollBack, type RollbackResult } from "../pipeline/mod.ts";
import type { Assembly } from "./assemble.ts";

/** Puts a stack back to an earlier release and pins it; see the pipeline's `rollBack`. */
export async function rollBackStack(
  assembly: Assembly,
  key: StackKey,
  wanted: { readonly number: number | undefined; readonly progress: Progress },
  signal: AbortSignal,
): Promise<RollbackResult> {
  return await rollBack(await assembly.pipelineParts(signal), key, wanted, signal);
}
