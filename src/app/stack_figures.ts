import { heldBack } from "../api/mod.ts";
import { failuresByPlace, formatStackKey } from "../model/mod.ts";
import { judgeStack } from "../plan/mod.ts";
import type { Ledger, StackFigures } from "../record/mod.ts";

/** Metrics of each deployed stack, from the ledger alone, without asking an engine. */
export function stackFigures(ledger: Ledger, now: Date): StackFigures[] {
  const decisions = new Map(
    ledger.decisions.latest().map(({ key, decision }) => [formatStackKey(key), decision]),
  );
  const drifts = ledger.reconciliations.drifts();
  const failureAt = failuresByPlace(ledger.sources.all(now));
  return ledger.deployedStacks().map(({ key, repository, place, succeededAt }) => {
    const decision = decisions.get(formatStackKey(key));
    const { state } = judgeStack({
      current: undefined,
      decision,
      failure: ledger.failures.get(key),
      isPinned: ledger.pins.has(key),
      isStopped: ledger.stops.get(key) !== undefined,
      ...heldBack(ledger, key),
      observed: undefined,
    });
    return {
      repository,
      deployment: key.name,
      context: key.context,
      isFailing: state === "failed",
      isSourceFailing: failureAt(place) !== undefined,
      isHeld: state === "held",
      succeededAt,
      lookedAt: decision?.lastAt,
      drift: drifts.get(formatStackKey(key))?.count,
    };
  });
}
