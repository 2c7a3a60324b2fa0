import {
  type Drift,
  formatDrift,
  type ReconciliationOptions,
  type StackKey,
} from "../model/mod.ts";
import type { Log } from "../system/mod.ts";

/** Logs new drift of a stack, and how to have it repaired. */
export function tellDrift(
  log: Log,
  { name, context }: StackKey,
  news: readonly Drift[],
  policy: ReconciliationOptions["drift"],
): void {
  const end = policy === "repair" ? "" : " (reconciliation.drift: repair mends it)";
  for (const each of news) {
    log.warning(`${formatDrift(each)}: changed by hand${end}`, { stack: name, context });
  }
}
