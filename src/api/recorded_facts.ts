import {
  failuresByPlace,
  formatPersonHold,
  formatPersonStop,
  formatStackKey,
  type StackKey,
} from "../model/mod.ts";
import { type judgeStack, restartLoops } from "../plan/mod.ts";
import {
  type DecisionSummary,
  type DeploymentsOfLedger,
  type Intent,
  type Ledger,
  whyElsewhere,
} from "../record/mod.ts";
import type { Clock } from "../system/mod.ts";

/** Stacks to tell of: those of a context, or one of them. */
export interface StackScope {
  readonly context: string;
  readonly name?: string;
}

/** The ledger's facts about stacks by formatted key that one read returns for all stacks. */
export function recordedOf(ledger: Ledger, scope: StackScope | undefined, clock: Clock) {
  const only = scope?.name === undefined ? undefined : { ...scope, name: scope.name };
  const isMeant = ({ key }: { readonly key: StackKey }) =>
    scope === undefined || key.context === scope.context && key.name === (only ?? key).name;
  const current = only === undefined
    ? ledger.currents().filter(isMeant)
    : [ledger.current(only)].filter((each) => each !== undefined);
  const latest = only === undefined
    ? ledger.decisions.latest().filter(isMeant)
    : ledger.decisions.of(only, 1).map((decision) => ({ key: only, decision }));
  const currents = new Map(current.map((each) => [formatStackKey(each.key), each]));
  const decisions = new Map(
    latest.map(({ key, decision }) => [formatStackKey(key), { key, decision }]),
  );
  const ended = new Set(ledger.interrupted().map(({ id }) => id));
  const goesOn = new Map(
    ledger.underWay().filter(isMeant).map((intent) =>
      [formatStackKey(intent.key), changeOf(intent, ended.has(intent.id))] as const
    ),
  );
  const names = new Set([...currents.keys(), ...decisions.keys(), ...goesOn.keys()]);
  const failed = failuresByPlace(ledger.sources.all(clock.now()));
  return { current, currents, decisions, goesOn, names, failed };
}

/** What the last look at the containers of a stack found. */
export function lookedFor({ reconciliations }: Ledger, key: StackKey, now: Date) {
  const drift = reconciliations.drift(key);
  return { changed: drift?.fields ?? [], loops: restartLoops(drift, now) };
}

/** Work under way on a stack, or interrupted. */
export type Change = Pick<Parameters<typeof judgeStack>[0], "underWay" | "interrupted">;

/** What an open intent means; `isEnded` says that its process has ended. */
function changeOf({ kind, isDone }: Pick<Intent, "kind" | "isDone">, isEnded: boolean): Change {
  if (!isEnded) return { underWay: "a change is under way" };
  // Its release runs: only copies of replaced files are left of it.
  if (isDone === true) return {};
  const what = kind === "destroy" ? "removal" : "deployment";
  return {
    interrupted: `a ${what} was interrupted: its process ended before it was done; the service ` +
      "takes it up when it runs and the engine answers",
  };
}

/** The key of a stack in {@link formatStackKey}'s text. */
export function keyOf(name: string): StackKey {
  const slash = name.indexOf("/");
  return { context: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** Decisions to look through for the one before what people did to containers. */
const MOST_BEFORE = 20;

/**
 * The decision by which a stack is judged: the last one, or the one before what a person did to its containers,
 * which says nothing of the commits that wait, and of what holds it or failed before.
 */
export function standingDecision(
  { decisions }: Pick<Ledger, "decisions">,
  key: StackKey,
  last: DecisionSummary | undefined,
): DecisionSummary | undefined {
  if (last === undefined || !isByHand(last)) return last;
  return decisions.of(key, MOST_BEFORE).find((each) => each.trigger !== "project") ?? last;
}

/** Whether a decision is a person's start, stop or the like, which succeeded. */
function isByHand({ trigger, kind, outcome }: DecisionSummary): boolean {
  return trigger === "project" && kind !== "destroy" && outcome?.status === "succeeded";
}

/** Milliseconds without a decision after which a stack without a release is not listed any more. */
const FORGOTTEN_AFTER_MS = 7 * 24 * 60 * 60 * 1000;

/** True for a stack without a release that is gone, not new: destroyed, or not decided on lately. */
export function isOver(decision: DecisionSummary | undefined, now: number): boolean {
  if (decision === undefined || decision.lastAt.getTime() < now - FORGOTTEN_AFTER_MS) return true;
  const { kind, reason, outcome } = decision;
  // A first deployment that failed, or that waits, must stay listed: people ask about it.
  if (kind === "error" || outcome?.status === "failed") return false;
  if (kind === "deploy" && outcome === undefined) return false;
  if (kind !== "skip") return true;
  // What superseded a look at a stack that has no release now has removed it.
  return ["nothing_to_destroy", "no_changes", "superseded"].includes(reason ?? "");
}

/** The sentences about a person's hold on a stack, a stop of it, and another context that has it, for judging it. */
export function heldBack(
  ledger: DeploymentsOfLedger & Pick<Ledger, "holds" | "stops">,
  key: StackKey,
): Pick<Parameters<typeof judgeStack>[0], "heldBack" | "stopped" | "elsewhere"> {
  const [hold, since] = [ledger.holds.get(key), ledger.stops.get(key)];
  // What never ran by this context is not left over here: how its deployment failed says where it is.
  const elsewhere = ledger.current(key) && whyElsewhere(ledger, key);
  return {
    ...(elsewhere === undefined ? {} : { elsewhere }),
    ...(hold === undefined ? {} : { heldBack: formatPersonHold(hold, key) }),
    ...(since === undefined ? {} : { stopped: formatPersonStop(key, since) }),
  };
}
