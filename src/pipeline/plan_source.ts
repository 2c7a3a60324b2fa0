import { canonicalJson } from "../compose/mod.ts";
import { type Glance, observe } from "../deploy/mod.ts";
import {
  type DiscoveredStack,
  formatOwner,
  formerOwner,
  type ObservedStack,
  ownerFrom,
  type Plan,
  type Release,
  type RunReporter,
  type StackKey,
  type StackwrightError,
  toStackwrightError,
} from "../model/mod.ts";
import {
  afterTurns,
  decideRemoval,
  type ObsoleteFacts,
  type Stays,
  whenRemoved,
} from "../plan/mod.ts";
import { decideTarget } from "./decide_target.ts";
import { type Decision, messageFor } from "./decision.ts";
import { releaseFailedBefore } from "./hold.ts";
import { deployedText, idOf, runningText } from "./decide/plan_texts.ts";
import { begunChange } from "./decide/under_way.ts";
import { removalFailedBefore, removalWish, wishOfSource } from "./destroy/failed_removal.ts";
import { decideDestroy } from "./destroy_target.ts";
import { type ExpandedDeployment, keyOf } from "./expand_deployments.ts";
import { type OpenedSource, openSource, type SourceRun, targetOf } from "./open_source.ts";
import { partsToLook, type PipelineParts } from "./parts.ts";
import { warnOfForeignStops } from "./owner/foreign_stops.ts";
import { preparing } from "./waits.ts";
import { deployedBy, isDeployedBy } from "./destroy/left_data.ts";
import { goingFirst } from "./destroy/remove_stack.ts";
import { lookedAt, planObsolete, planOfKept, whyObsolete } from "./destroy/plan_obsolete.ts";
import { repositoryOf, revisionOf } from "./resolve_revision.ts";
import { recordedOwner } from "../record/mod.ts";
import { shownModel, type Target } from "../prepare/mod.ts";
import { observeAnyway } from "./stack_mode.ts";
import { allInTurns } from "../system/mod.ts";
import { createTeller, runListener } from "../tell/mod.ts";

/** The plan of one stack, with the models it was made from as masked texts. */
export interface PlannedStack extends StackKey {
  /** Digest of the wanted release, what runs and the plan: equal while all of these are. */
  readonly id: string;
  readonly plan: Plan;
  /** Empty when no release is deployed. */
  readonly before: string;
  readonly after: string;
}

/** A stack whose planning failed; the others are planned all the same. */
interface UnplannedStack extends StackKey {
  readonly error: StackwrightError;
}

/** The plans of a source. */
export interface PlannedStacks {
  readonly stacks: readonly PlannedStack[];
  readonly failures: readonly UnplannedStack[];
}

/**
 * Decides about every stack of a source as a run would, without acting. `parts` have to keep the
 * world as it is: a copy of the ledger, directories of their own, images that are not fetched. A
 * stack whose planning fails is returned among `failures`.
 *
 * Throws what reading the source and its configuration throws.
 */
export async function planSource(
  parts: PipelineParts,
  run: SourceRun,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<PlannedStacks> {
  const opened = await openSource(parts, run, reporter, signal);
  if (opened.away !== undefined) throw opened.away;
  const { deployments, failures } = opened.expansion;
  const { removals, kept } = await planObsolete(parts, opened, signal);
  const stay = kept.filter((each) => each.isSure)
    .map((each) => plannedStay(parts, each.stack, each));
  const goes = (each: ExpandedDeployment) => each.declared.deployment.destroy.enabled;
  const planning = { ...parts, goes: goingFirst(removals, deployments.filter(goes).map(keyOf)) };
  const releases: Release[] = [];
  const deploy = (each: ExpandedDeployment, foretold?: ToPlan["foretold"]) => {
    const onRelease = releases.push.bind(releases);
    const toPlan = { opened, deployment: each, reporter, onRelease, foretold };
    return attempt(keyOf(each), () => planDeployment(planning, toPlan, signal), signal);
  };
  const wanted = await allInTurns(
    deployments.filter((each) => !goes(each)),
    (each) => deploy(each),
  );
  // What goes is planned as it is decided at the end of a run, when the others are deployed: `parts` have a copy.
  const isThere = (each: ExpandedDeployment) => parts.ledger.current(keyOf(each)) !== undefined;
  const deployed = removals.length > 0 || deployments.some((each) => goes(each) && isThere(each));
  for (const each of deployed ? releases : []) {
    // What is being changed may end in any way: it counts as it is.
    if (parts.ledger.isUnderWay(each.key)) continue;
    parts.ledger.deployed(parts.ledger.beginDeploy(each), {}, "");
  }
  const turns = { here: deployments, deployed: deployedBy(wanted), looked: lookedAt(opened) };
  const isDeployed = isDeployedBy(parts, turns);
  const remove = (each: ObsoleteFacts) => {
    const plan = () => planRemoval(parts, opened, { facts: each, isDeployed }, signal);
    return attempt(each.unnamed.stack.key, plan, signal);
  };
  const gone = await allInTurns(deployments.filter(goes), (each) => deploy(each, isDeployed));
  const tried = [...await allInTurns(removals, remove), ...wanted, ...gone];
  const unplanned = failures.map(({ key, error }) => ({ ...key, error }));
  return {
    stacks: [...stay, ...tried.filter((each) => "plan" in each)],
    failures: [...unplanned, ...tried.filter((each) => "error" in each)],
  };
}

async function attempt(
  key: StackKey,
  plan: () => Promise<PlannedStack>,
  signal: AbortSignal,
): Promise<PlannedStack | UnplannedStack> {
  try {
    return await plan();
  } catch (thrown) {
    signal.throwIfAborted();
    return { ...key, error: toStackwrightError(thrown, key.name) };
  }
}

/** The plan for a stack that stays although nothing names it any more. */
function plannedStay(
  parts: PipelineParts,
  { key }: DiscoveredStack,
  verdict: Stays,
): PlannedStack {
  const plan = planOfKept(verdict);
  const id = parts.key.digest(canonicalJson({ key, plan }));
  return { ...key, id, plan, before: "", after: "" };
}

async function planRemoval(
  anyParts: PipelineParts,
  { configuration }: OpenedSource,
  { facts, isDeployed }: {
    readonly facts: ObsoleteFacts;
    readonly isDeployed: (key: StackKey) => boolean;
  },
  signal: AbortSignal,
): Promise<PlannedStack> {
  const { unnamed: { stack: found, stack: { key, directory } } } = facts;
  const verdict = decideRemoval(afterTurns(facts, isDeployed));
  if (verdict.kind !== "remove") return plannedStay(anyParts, found, verdict);
  const parts = await partsToLook(anyParts, key, signal);
  const observed = await observeAnyway(parts, key, signal);
  const by = ownerFrom(configuration);
  const why = { because: whyObsolete(directory), verdict, when: whenRemoved(facts, verdict) };
  const asked = { by, found, observed, ...why, isUnnamed: true };
  const plan = await decideDestroy(parts, key, asked, signal);
  const before = await deployedText(parts, key);
  const wish = wishOfSource({ source: configuration.source.name, origin: "automatic" });
  const message = plan.message + removalFailedBefore(parts, key, wish);
  const id = idOf(parts, key, { plan, observed });
  return { ...key, id, plan: { ...plan, message }, before, after: "" };
}

interface ToPlan {
  readonly opened: OpenedSource;
  readonly deployment: ExpandedDeployment;
  readonly reporter: RunReporter;
  /** Told of the release that a run would deploy. */
  readonly onRelease: (release: Release) => void;
  readonly foretold?: Target["foretold"];
}

async function planDeployment(
  anyParts: PipelineParts,
  { opened, deployment, reporter, onRelease, foretold }: ToPlan,
  signal: AbortSignal,
): Promise<PlannedStack> {
  const told = targetOf(opened, deployment, (text) => teller.tell({ kind: "step", text }));
  const asked = { ...told, repository: repositoryOf(told) };
  const teller = createTeller([runListener(reporter)], asked, told.configuration);
  const { key } = told;
  const parts = await partsToLook(anyParts, key, signal);
  let observed: ObservedStack = { containers: [] };
  const glance: Glance = {
    observe: async (stack) => observed = await observe(parts.host.engine, stack, signal),
  };
  const decide = async (within: PipelineParts) => {
    const revision = await revisionOf(within, opened, told, signal);
    return await decideAnyway(within, { ...told, revision, glance, foretold }, signal);
  };
  const deployed = await deployedText(parts, key);
  // Before the decision, which may make the new owner that of what runs, in the copy of the ledger.
  const first = firstBy(parts, key);
  const decision = await preparing(parts, asked, decide, signal);
  const before = deployed || await runningText(parts, decision, signal);
  const { forceRecreate, removeOrphans } = deployment.declared.deployment;
  const plan = { ...decision.plan, message: messageFor(decision) };
  const wanted = wantedBy(decision);
  if (decision.kind === "deploy") onRelease(decision.prepared.release);
  await warnOfKept(parts, told, decision, signal);
  const release = wanted?.digest ?? parts.ledger.current(key)?.digest;
  const facts = { plan, observed, release, policy: { forceRecreate, removeOrphans } };
  const same = decision.kind === "destroy" ? "" : before;
  const after = wanted === undefined ? same : await shownModel(parts, wanted);
  const failed = decision.kind === "destroy"
    ? removalFailedBefore(parts, key, removalWish(told))
    : decision.kind === "deploy" && wanted !== undefined
    ? releaseFailedBefore(parts, told, wanted.digest, opened.request)
    : "";
  const begun = begunChange(parts, key);
  // Its containers are there, and whether they are good is not known: that is no stack in sync.
  const isHalf = begun !== undefined && plan.kind === "skip" && plan.reason === "no_changes" &&
    before !== after;
  const { message, services } = plan;
  const more = first(plan) + failed + (begun === undefined ? "" : `; ${begun.what}`);
  const shown: Plan = isHalf
    ? { kind: "deploy", message: `${begun.what}; ${begun.meaning}`, services }
    : { ...plan, message: message + more };
  // Not in the id: when it is tried again makes it no other plan.
  return { ...key, id: idOf(parts, key, facts), plan: shown, before, after };
}

/** Says that a stack was handed over, and that its new owner has not deployed it yet; empty for others. */
function firstBy({ ledger }: PipelineParts, key: StackKey): (plan: Plan) => string {
  const [owner, current] = [recordedOwner(ledger, key), ledger.current(key)];
  const former = current && formerOwner(current, owner);
  if (former === undefined || owner === undefined) return () => "";
  const to = `${formatOwner(owner)}, to which it was handed over: ` +
    `release ${current?.number} is of ${formatOwner(former)}`;
  return (plan) => {
    if (plan.kind === "deploy") return `; the first deployment of ${to}`;
    // What runs stays, and becomes the new owner's, who has nothing repaired before.
    const isSame = plan.kind === "skip" && plan.reason === "no_changes";
    return isSame ? `; apply makes what runs that of ${to}` : "";
  };
}

/**
 * The decision about a target; of a held or paused one it has what waits, as where a window defers it. Ends
 * the hold for that in `parts`, whose ledger is a copy.
 */
async function decideAnyway(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Decision> {
  const decision = await decideTarget(parts, target, signal);
  const { key, deployment } = target;
  const { kind, plan } = decision;
  if (kind !== "skip" || !plan.reason.startsWith("paused")) return decision;
  const isStopped = parts.ledger.stops.get(key) !== undefined;
  parts.ledger.stops.remove(key);
  parts.ledger.holds.remove(key);
  parts.ledger.pins.remove(key);
  const open = { ...target, deployment: { ...deployment, pause: false } };
  const telling = (waiting: string) => ({
    ...plan,
    message: `${plan.message}; waiting: ${waiting}`,
  });
  try {
    const waits = await decideTarget(parts, open, signal);
    if (waits.kind === "skip" && waits.plan.reason !== "sync_window") return decision;
    const { message, services } = waits.plan;
    const wanted = wantedBy(waits);
    // Its start is no change that waits.
    const isSame = wanted?.digest === parts.ledger.current(key)?.digest;
    if (isStopped && isSame) return decision;
    return { ...decision, plan: { ...telling(message), services }, ...(wanted && { wanted }) };
  } catch (thrown) {
    signal.throwIfAborted();
    // No failure of the plan: until the hold ends, nothing is wrong.
    const { message } = toStackwrightError(thrown, key.name);
    return { ...decision, plan: telling(`what cannot be deployed as it is: ${message}`) };
  }
}

function wantedBy(decision: Decision): Release | undefined {
  if (decision.kind === "deploy") return decision.prepared.release;
  return decision.kind === "skip" ? decision.wanted : undefined;
}

/** Warns of jobs whose runs are refused, where nothing is deployed that would. */
async function warnOfKept(
  parts: PipelineParts,
  target: Target,
  decision: Decision,
  signal: AbortSignal,
): Promise<void> {
  if (decision.kind === "deploy" || decision.kind === "destroy") return;
  const wanted = wantedBy(decision);
  // What waits was planned as if it were deployed.
  if (
    wanted !== undefined && decision.plan.kind === "skip" && decision.plan.reason !== "no_changes"
  ) return;
  const recorded = parts.ledger.current(target.key);
  const release = wanted ?? (recorded && parts.ledger.open(recorded));
  if (release !== undefined) await warnOfForeignStops(parts, target, release, signal);
}
