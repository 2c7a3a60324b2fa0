import type { ObservedContainer, ReconciliationOptions } from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import type { Clock, Log, Meter } from "../system/mod.ts";
import { stackLabels } from "./stack_labels.ts";

/** Ports for telling of containers that are left alone. */
interface SuppressedParts {
  readonly log: Log;
  readonly meter: Pick<Meter, "count">;
  readonly clock: Clock;
  readonly ledger: { readonly reconciliations: Pick<Ledger["reconciliations"], "noteLeftAlone"> };
}

/**
 * Counts and records unhealthy containers that reached the limit of restarts. Warns of each once, as
 * long as it goes on: its health may change every few seconds for ever.
 */
export function tellSuppressed(
  { log, meter, clock, ledger: { reconciliations } }: SuppressedParts,
  { key, revision }: Pick<RecordedRelease, "key" | "revision">,
  options: Pick<ReconciliationOptions, "restartLimit" | "restartWindowSeconds">,
  suppressed: readonly ObservedContainer[],
): void {
  for (const _each of suppressed) {
    meter.count("reconciliation_suppressed_total", stackLabels(key, revision.source.name));
  }
  for (const { name } of reconciliations.noteLeftAlone(key, suppressed, clock.now())) {
    log.warning(
      `container ${name} is unhealthy and was restarted ${options.restartLimit} times within ` +
        `${options.restartWindowSeconds} s: it is left alone (reconciliation.restart_limit)`,
      { stack: key.name, context: key.context },
    );
  }
}
