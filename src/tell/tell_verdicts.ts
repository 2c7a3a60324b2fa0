import {
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

/** Verdicts of a swarm on services of one stack, with what is known of the stack. */
interface VerdictNews {
  /** The release that is deployed. */
  readonly current: RecordedRelease;
  /** Those that nobody was told of yet. */
  readonly verdicts: readonly EngineVerdict[];
  readonly observed: ObservedStack;
  /** Whether another release failed and stayed. */
  readonly isMixed: boolean;
  /** Says it in words, and whether the deployed release failed by it. */
  readonly judge: (verdict: EngineVerdict) => { readonly message: string; readonly fails: boolean };
}

/** Verdicts of a swarm on services of a stack that nobody was told of yet. */
export function newVerdicts(
  { reconciliations }: Pick<Ledger, "reconciliations">,
  key: StackKey,
  { verdicts = [] }: ObservedStack,
): readonly EngineVerdict[] {
  const known = reconciliations.drift(key)?.verdicts ?? [];
  return verdicts.filter(({ id }) => !known.includes(id));
}

/**
 * Tells what a swarm did to services by itself, once, as a decision of its own: a rollback that came after
 * a deployment had given up on its service, or of an update that somebody else began. A second call with
 * the same news tells them again; {@link newVerdicts} leaves out what was told.
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
      ledger.failures.fail(key, { release, message, at: clock.now(), automatic: true });
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
