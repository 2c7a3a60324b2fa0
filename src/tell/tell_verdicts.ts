import {
  askingSource,
  type EngineVerdict,
  errors,
  type ObservedStack,
  type StackKey,
  type TargetListener,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import type { Clock, Log, Meter } from "../system/mod.ts";
import { stackLabels } from "./stack_labels.ts";
import { reconciliationTeller } from "./reconciliation_teller.ts";

interface VerdictParts {
  readonly ledger: Pick<Ledger, "failures" | "reconciliations">;
  readonly listeners: readonly TargetListener[];
  readonly meter: Meter;
  readonly log: Log;
  readonly clock: Clock;
}

/** Verdicts of a swarm on services of one stack, with facts about the stack. */
interface VerdictNews {
  readonly current: RecordedRelease;
  /** Verdicts that were not told yet. */
  readonly verdicts: readonly EngineVerdict[];
  readonly observed: ObservedStack;
  /** Whether another release failed and its containers stayed. */
  readonly isMixed: boolean;
  /** Returns a verdict in words, and whether it makes the deployed release a failure. */
  readonly judge: (verdict: EngineVerdict) => { readonly message: string; readonly fails: boolean };
}

/** The verdicts of a swarm on services of a stack that were not told yet. */
export function newVerdicts(
  { reconciliations }: Pick<Ledger, "reconciliations">,
  key: StackKey,
  { verdicts = [] }: ObservedStack,
): readonly EngineVerdict[] {
  const known = reconciliations.drift(key)?.verdicts ?? [];
  return verdicts.filter(({ id }) => !known.includes(id));
}

/**
 * Tells verdicts of a swarm as decisions of their own: a rollback after a deployment had given up
 * on the service, or of an update that somebody else began. Tells the same verdicts again when
 * called again; use {@link newVerdicts} for those not told yet.
 */
export function tellVerdicts(
  { ledger, listeners, meter, log, clock }: VerdictParts,
  { current, verdicts, observed, isMixed, judge }: VerdictNews,
): void {
  const { key, revision, digest: release } = current;
  for (const verdict of verdicts) {
    const { message, fails } = judge(verdict);
    const teller = reconciliationTeller(listeners, current);
    meter.count("engine_rollbacks_total", stackLabels(key, revision.source.name));
    if (fails) {
      const source = askingSource(current);
      ledger.failures.fail(key, { release, source, message, at: clock.now(), automatic: true });
      const error = errors.deploy_failed(message);
      teller.tell({ kind: "ended", end: { status: "failed", message, error } });
      continue;
    }
    if (isMixed) ledger.failures.addTo(key, message);
    log.warning(message, { stack: key.name, context: key.context });
    const nothing = { kind: "skip", reason: "no_changes", changes: [], services: [] } as const;
    teller.tell({ kind: "decided", decision: { ...nothing, message } });
  }
  ledger.reconciliations.noteVerdicts(key, observed.verdicts);
}
