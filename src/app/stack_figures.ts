import { heldBack, isOver, standingDecision } from "../api/mod.ts";
import { failuresByPlace, formatStackKey, type StackKey } from "../model/mod.ts";
import { judgeStack, restartLoops } from "../plan/mod.ts";
import type { DecisionSummary, Ledger, StackFigures } from "../record/mod.ts";

type DeployedStack = ReturnType<Ledger["deployedStacks"]>[number];

/** A stack that is deployed, or whose first deployment failed or waits. */
type Counted =
  & Omit<DeployedStack, "place" | "reference" | "isSwarm">
  & Partial<Pick<DeployedStack, "place">>;

/** Metrics of each stack that status lists, from the ledger alone, without asking an engine. */
export function stackFigures(ledger: Ledger, now: Date): StackFigures[] {
  const latest = ledger.decisions.latest();
  const decisions = new Map(
    latest.map(({ key, decision }) => [formatStackKey(key), decision]),
  );
  const drifts = ledger.reconciliations.drifts();
  const failureAt = failuresByPlace(ledger.sources.all(now));
  const deployed = ledger.deployedStacks();
  const counted: Counted[] = [...deployed, ...neverDeployed(ledger, { deployed, latest }, now)];
  return counted.map(({ key, repository, place, succeededAt }) => {
    const decision = decisions.get(formatStackKey(key));
    const drift = drifts.get(formatStackKey(key));
    const { state } = judgeStack({
      current: undefined,
      decision: standingDecision(ledger, key, decision),
      failure: ledger.failures.get(key),
      isPinned: ledger.pins.has(key),
      ...heldBack(ledger, key),
      observed: undefined,
    });
    return {
      repository,
      deployment: key.name,
      context: key.context,
      isFailing: state === "failed",
      isSourceFailing: place !== undefined && failureAt(place) !== undefined,
      isHeld: state === "held",
      succeededAt,
      lookedAt: decision?.lastAt,
      drift: drift && drift.count + restartLoops(drift, now).length,
    };
  });
}

/** Stacks without a good release: the alert on what fails must see a first deployment, too. */
function neverDeployed(
  ledger: Ledger,
  { deployed, latest }: {
    readonly deployed: readonly DeployedStack[];
    readonly latest: readonly { readonly key: StackKey; readonly decision: DecisionSummary }[];
  },
  now: Date,
): Counted[] {
  const known = new Set(deployed.map(({ key }) => formatStackKey(key)));
  return latest
    .filter(({ key, decision }) =>
      !known.has(formatStackKey(key)) && !isOver(decision, now.getTime())
    )
    // Nobody owns it before its first release.
    .map(({ key }) => ({
      key,
      repository: ledger.owners.get(key)?.source ?? "",
      succeededAt: undefined,
    }));
}
