import {
  type Drift,
  formatDrift,
  type ReconciliationOptions,
  type StackKey,
} from "../model/mod.ts";
import type { Log } from "../system/mod.ts";

/** Logs new drift of a stack, and how to have it repaired; and what the engine restarts for ever. */
export function tellDrift(
  log: Log,
  { name, context }: StackKey,
  { news, loops }: {
    readonly news: readonly Drift[];
    readonly loops: readonly { readonly said: string }[];
  },
  policy: ReconciliationOptions["drift"],
): void {
  const end = policy === "repair" ? "" : " (reconciliation.drift: repair mends it)";
  for (const each of news) {
    log.warning(`${formatDrift(each)}: changed by hand${end}`, { stack: name, context });
  }
  for (const { said } of loops) log.warning(`container ${said}`, { stack: name, context });
}
