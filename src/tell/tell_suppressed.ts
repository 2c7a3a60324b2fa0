import type { ObservedContainer, ReconciliationOptions } from "../model/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import type { Log, Meter } from "../system/mod.ts";
import { stackLabels } from "./stack_labels.ts";

/** Logs and counts unhealthy containers that reached the limit of restarts. */
export function tellSuppressed(
  { log, meter }: { readonly log: Log; readonly meter: Meter },
  { key, revision }: Pick<RecordedRelease, "key" | "revision">,
  options: Pick<ReconciliationOptions, "restartLimit" | "restartWindowSeconds">,
  suppressed: readonly ObservedContainer[],
): void {
  for (const { name } of suppressed) {
    meter.count("reconciliation_suppressed_total", stackLabels(key, revision.source.name));
    log.warning(
      `container ${name} is unhealthy and was restarted ${options.restartLimit} times within ` +
        `${options.restartWindowSeconds} s: it is left alone (reconciliation.restart_limit)`,
      { stack: key.name, context: key.context },
    );
  }
}
