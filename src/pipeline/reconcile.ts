import { BoundedLooks, observe } from "../deploy/mod.ts";
import {
  askingSource,
  beyondObserved,
  type Drift,
  type EngineVerdict,
  formatStackKey,
  type Heard,
  type LookBecause,
  type ObservedContainer,
  type ObservedStack,
  type StackKey,
  type TargetEnd,
} from "../model/mod.ts";
import {
  decideReconciliation,
  judgeVerdict,
  pausedHold,
  type Reconciliation,
  toRemember,
} from "../plan/mod.ts";
import type { Target } from "../prepare/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { whyLeft } from "../record/mod.ts";
import {
  newVerdicts,
  reconciliationTeller,
  type Teller,
  tellSuppressed,
  tellVerdicts,
} from "../tell/mod.ts";
import { repairRelease } from "./act.ts";
import { untilAsked } from "./decide/until_asked.ts";
import { isMixed, prepareRepair } from "./hold.ts";
import { isNothing } from "./owner/own_stack.ts";
import { hasSwarm, partsFor, type PipelineParts } from "./parts.ts";
import { isOthersByContainers } from "./owner/own_things.ts";
import { allInTurns, createPauses, deploying } from "../system/mod.ts";
import { driftOf, type Reconciled } from "./reconcile/drift_of.ts";
import { observeEngine } from "./reconcile/observe_engine.ts";
import { recoverStack } from "./recover.ts";
import { restartContainers } from "./reconcile/restart_containers.ts";
import { asItsOwner, untilSettled, waitForProcess, waitForStack } from "./waits.ts";

/** Records how a stack reacts to events, and about orphans and running jobs, as what runs now asks for it. */
export function settleReconciliation(
  { ledger }: Pick<PipelineParts, "ledger">,
  { key, deployment }: Pick<Target, "key" | "deployment">,
): void {
  const { reconciliation, removeOrphans, waitRunningJobs } = deployment;
  ledger.reconciliations.settle(key, { ...reconciliation, removeOrphans, waitRunningJobs });
}

/**
 * Repairs a stack after events of its containers, as far as its deployed configuration asks for
 * that: restarts unhealthy containers, brings back missing or dead ones from the ledger, the disk
 * and the mirror. Newer commits, a pause and a retry that waits do not matter; a stack that a
 * person stopped, or that was destroyed, is left alone.
 *
 * Returns `failed` when it is to be tried again. Rejects as the signal, and as the engine does. A hand-over
 * ends it: then what runs is left to the new owner.
 */
export async function reconcile(
  anyParts: PipelineParts,
  key: StackKey,
  why: LookBecause,
  signal: AbortSignal,
): Promise<"settled" | "failed"> {
  const parts = await partsFor(anyParts, key, signal);
  return await untilSettled(parts, key, async () => {
    // Not under the stack's lock: runs that wait for the lock could not report progress.
    await waitForStack(parts, key, () => {}, signal, waitForProcess);
    await recoverStack(anyParts, parts.listeners, key, signal);
    return await parts.stackLock.run(formatStackKey(key), async () => {
      if (parts.ledger.heldElsewhere(key) !== undefined) return "moved";
      const because = why();
      return await asItsOwner(parts, key, (within, ask) => {
        return attempt(parts, key, { because, ask }, within);
      }, signal).catch((error) => {
        signal.throwIfAborted();
        if (whyLeft(parts.ledger, key) === undefined) throw error;
        return "settled" as const;
      });
    }, signal);
  }, signal);
}

type End = "settled" | "failed" | "moved";

/** The release and options to reconcile a stack by; `undefined` for one that is left alone. */
function reconciled(parts: PipelineParts, key: StackKey): Reconciled | undefined {
  const { ledger } = parts;
  const [options, recorded] = [ledger.reconciliations.get(key), ledger.current(key)];
  if (options?.enabled !== true || parts.ledger.stops.get(key) !== undefined) return undefined;
  if (recorded === undefined || isMixed(parts, recorded)) return undefined;
  return whyLeft(ledger, key) === undefined ? { recorded, options } : undefined;
}

async function attempt(
  parts: PipelineParts,
  key: StackKey,
  { because: { heard, retryMs }, ask }: {
    readonly because: ReturnType<LookBecause>;
    /** Aborts the signal if the stack is another owner's by now. */
    readonly ask: () => void;
  },
  signal: AbortSignal,
): Promise<End> {
  const { ledger } = parts;
  const since = ledger.mark(key);
  // Not finished by now, as where the engine refused something: a repair would close it.
  if (ledger.isUnderWay(key) && ledger.stops.get(key) === undefined) return "failed";
  const found = reconciled(parts, key);
  const recorded = found?.recorded ?? parts.ledger.current(key);
  if (recorded === undefined) return "settled";
  if (recorded.swarm === undefined ? found === undefined : !await hasSwarm(parts, signal)) {
    return "settled";
  }
  // Looks alone, not the repair: that has a slot of its own, and its author decides how long it takes.
  const looking = <T>(look: () => Promise<T>) =>
    parts.looks.run(askingSource(recorded), look, signal);
  const observed = await looking(() => observe(parts.host.engine, recorded, signal));
  if (recorded.swarm !== undefined && !ledger.isStill(key, since)) return "moved";
  if (isOthersByContainers(parts, recorded, observed)) return "settled";
  tellOfVerdicts(parts, recorded, observed);
  if (found === undefined) return "settled";
  const drift = await looking(() => driftOf(parts, found, { observed, since }, signal));
  const decided = decide(parts, found, { observed, heard, drift });
  // Told only after an `unhealthy` event: the engine sends one per change, so this is told once.
  const told = decided.suppressed.filter(({ id }) => heard?.get(id)?.has("unhealthy") === true);
  tellSuppressed(parts, recorded, found.options, told);
  if (await isNothing(parts, key, decided, signal)) return "settled";
  if (!ledger.isStill(key, since)) return "moved";
  const teller = reconciliationTeller(parts.listeners, recorded);
  try {
    const end = decided.plan.kind === "skip"
      ? await restartContainers(parts, found, { teller, restarts: decided.restarts, ask }, signal)
      : await redeploy(parts, found, { teller, decided, observed, since }, signal);
    if (end === undefined) return "moved";
    if (end.status === "succeeded" && drift.length > 0) {
      parts.ledger.reconciliations.noteTried(key, toRemember(drift));
    }
    const again = end.status === "failed" ? laterBy(parts, retryMs) : {};
    if (end.status !== "skipped") teller.tell({ kind: "ended", end: { ...end, ...again } });
    return end.status === "failed" ? "failed" : "settled";
  } catch (thrown) {
    const again = whyLeft(parts.ledger, key) === undefined ? laterBy(parts, retryMs) : {};
    teller.fail(`bringing ${key.name} back`, thrown, signal, again);
    signal.throwIfAborted();
    return "failed";
  }
}

/** The time of the retry after a failure just now. */
function laterBy({ clock }: PipelineParts, retryMs: number): Required<Pick<TargetEnd, "retryAt">> {
  return { retryAt: new Date(clock.now().getTime() + retryMs) };
}

function tellOfVerdicts(parts: PipelineParts, current: RecordedRelease, observed: ObservedStack) {
  const verdicts = newVerdicts(parts.ledger, current.key, observed);
  if (verdicts.length === 0) return;
  const { ledger } = parts;
  const withServices = ({ id, number }: RecordedRelease) => ({
    number,
    services: ledger.services({ id }),
  });
  const mixed = isMixed(parts, current);
  const judge = (verdict: EngineVerdict) =>
    judgeVerdict({
      verdict,
      current: withServices(current),
      history: ledger.history(current.key, MOST_RELEASES).values().map(withServices),
      isMixed: mixed,
    });
  tellVerdicts(parts, { current, verdicts, observed, isMixed: mixed, judge });
}

/** Newest releases among which the one is looked for that the swarm rolled a service back to. */
const MOST_RELEASES = 100;

function decide(
  { ledger, clock }: PipelineParts,
  { recorded, options }: Reconciled,
  seen: {
    readonly observed: ObservedStack;
    readonly heard: Heard | undefined;
    readonly drift: readonly Drift[];
  },
): Reconciliation {
  const { key, digest } = recorded;
  const since = new Date(clock.now().getTime() - options.restartWindowSeconds * 1000);
  const restarts = ({ name }: ObservedContainer) =>
    ledger.reconciliations.restartsSince({ key, release: digest, container: name }, since);
  const known = { services: ledger.services(recorded), isStack: recorded.swarm !== undefined };
  return decideReconciliation({ ...known, options, restarts, ...seen });
}

/** Puts missing parts of the release back; `undefined` when another process changed the stack. */
async function redeploy(
  parts: PipelineParts,
  { recorded }: Reconciled,
  { teller, decided: { plan }, observed, since }: {
    readonly teller: Teller;
    readonly decided: Reconciliation;
    readonly observed: ObservedStack;
    readonly since: string;
  },
  signal: AbortSignal,
): Promise<TargetEnd | undefined> {
  const { key, timeoutSeconds, revision } = recorded;
  const progress = (text: string) => teller.tell({ kind: "step", text });
  const by = { key, origin: "automatic", progress, timeoutSeconds } as const;
  const hold = pausedHold(`${key.name} is not as it was deployed`);
  return await untilAsked(parts, key, async (within, begin) => {
    const decision = await prepareRepair(parts, by, { hold, plan, recorded, observed }, within);
    if (decision.kind === "skip") {
      parts.log.warning(decision.hold.message, { stack: key.name, context: key.context });
      return { status: "skipped", message: decision.hold.message };
    }
    const { message: said, services } = decision.plan;
    teller.begin("repair", `release ${recorded.number} comes back: ${said}`, services);
    const holder = { repository: revision.source.name, configuration: recorded.configuration };
    return await deploying(parts, holder, (slot) => {
      begin();
      return repairRelease(parts, by, { decision, since, slot }, within);
    }, within);
  }, signal);
}

/**
 * The stacks of a context that need a repair, or whose change was cut off, by one look at all containers:
 * for missed events.
 */
export async function strayedStacks(
  anyParts: PipelineParts,
  context: string,
  signal: AbortSignal,
): Promise<StackKey[]> {
  const { ledger } = anyParts;
  const cutOff = ledger.interrupted().filter((each) =>
    each.key.context === context && !ledger.waits(each)
  ).map(({ key }) => key);
  const names = new Set(cutOff.map(({ name }) => name));
  const all = ledger.deployedStacks().filter(({ key }) =>
    key.context === context && !names.has(key.name)
  );
  if (all.length === 0) return cutOff;
  const parts = await partsFor(anyParts, { context }, signal);
  const mark = ({ key }: typeof all[0]) => Promise.resolve({ key, mark: parts.ledger.mark(key) });
  const marks = await allInTurns(all, mark);
  // Asked after that: what begins in between has a mark that tells of it no more.
  const busy = new Set(parts.ledger.underWay().map(({ key }) => formatStackKey(key)));
  const isManager = all.some(({ isSwarm }) => isSwarm) && await hasSwarm(parts, signal);
  const seen = await observeEngine(parts.host.engine, parts.ledger, { context, isManager }, signal);
  const looks = new BoundedLooks(parts);
  const strayed = cutOff;
  for (const { key, mark } of marks.filter((each) => !seen.stopped.has(each.key.name))) {
    await createPauses(1).after(1);
    const observed = seen.stacks.get(key.name) ?? { containers: [] };
    const current = parts.ledger.current(key);
    const beyond = beyondObserved(key.name, observed);
    if (beyond !== undefined) {
      parts.log.warning(`nothing is repaired: ${beyond}`, { stack: key.name, context });
      continue;
    }
    if (current !== undefined && isOthersByContainers(parts, current, observed)) continue;
    const isStack = current?.swarm !== undefined;
    if (isStack && isManager && newVerdicts(parts.ledger, key, observed).length > 0) {
      strayed.push(key);
      continue;
    }
    const found = reconciled(parts, key);
    if (found === undefined || (isStack && !isManager)) continue;
    const since = busy.has(formatStackKey(key)) ? "" : mark;
    const look = (within: AbortSignal) => driftOf(parts, found, { observed, since }, within);
    const drift = since === "" ? [] : await looks.run(found.recorded, look, signal) ?? [];
    const decided = decide(parts, found, { observed, heard: undefined, drift });
    if (!await isNothing(parts, key, decided, signal)) strayed.push(key);
  }
  return strayed;
}
