import {
  formatStackKey,
  type LookBecause,
  type Rollback,
  type RunReporter,
  type StackKey,
  type Sync,
} from "./model/mod.ts";
import {
  act,
  again,
  type Audience,
  decideAsOwner,
  deployNamed,
  doneListener,
  type ExpandedDeployment,
  filesOf,
  givingWay,
  hasClosed,
  heldAnyway,
  isDestroyOvertaken,
  isStrangers,
  keyOf,
  leave,
  lendingLock,
  lockedForTarget,
  noteDecision,
  oneOfMany,
  type OpenedSource,
  overtaken,
  partsFor,
  type PerformJob,
  type PipelineParts,
  reconcile,
  recover,
  recoverStack,
  refusalOf,
  revisionOf,
  rollBack,
  runJob,
  type RunOfSource,
  settleReconciliation,
  type SourceRun,
  strayedStacks,
  targetOf,
  type TargetsOfSource,
  throwFailures,
  type ToDo,
  toldDecision,
  toldRepository,
  untilAsked,
  untilSettled,
  waitForJobs,
  waitForStack,
  withDataOfTargets,
  withLed,
} from "./pipeline/mod.ts";
import { type Glances, glancesOf, lacksExternal } from "./deploy/mod.ts";
import { stage, type Target } from "./prepare/mod.ts";
import { allInTurns, deploying, OVERTAKEN, type Slot, stackAsOwner } from "./system/mod.ts";
import { askedAs, createTeller, describing, runListener } from "./tell/mod.ts";

/** The product: makes engines equal to what sources say. */
export interface Pipeline {
  /**
   * Deploys what the sources of a piece of work say. Ends normally when every target was reported in a final state,
   * failed ones included. Throws what kept a source from being read; an `AggregateError` where there are several.
   */
  execute(work: Sync, reporter: RunReporter, signal: AbortSignal): Promise<void>;
  /** Runs a scheduled job; see {@link runJob}. */
  readonly runJob: PerformJob;
  /** Puts a stack back to an earlier release; see {@link rollBack}. */
  rollBack(work: Rollback, reporter: RunReporter, signal: AbortSignal): Promise<void>;
  /**
   * Finishes the intents that an earlier process left open, of the stacks for which `isMeant` says
   * so. Call it once, before the first `execute`. Returns the contexts whose engines do not answer.
   */
  recover(
    signal: AbortSignal,
    reporter?: RunReporter,
    isMeant?: (key: StackKey) => boolean,
  ): Promise<ReadonlySet<string>>;
  /** Repairs a stack after events of its containers; see {@link reconcile}. */
  reconcile(key: StackKey, why: LookBecause, signal: AbortSignal): Promise<"settled" | "failed">;
  /** The stacks of a context that need a repair, found by one look at all its containers. */
  strayed(context: string, signal: AbortSignal): Promise<StackKey[]>;
}

/** Makes the pipeline. */
export function createPipeline(parts: PipelineParts): Pipeline {
  return {
    execute: (work, reporter, signal) => execute(parts, work, reporter, signal),
    runJob: (work, reporter, jobs, signal) => runJob(parts, jobs, { work, reporter }, signal),
    rollBack: async ({ key, release, reason }, reporter, signal) => {
      await rollBack(parts, key, {
        number: release,
        reason,
        progress: (message) => reporter.describe({ message }),
        listeners: [describing(reporter), runListener(reporter)],
      }, signal);
    },
    recover: async (signal, reporter, isMeant) => {
      const run = reporter === undefined ? [] : [describing(reporter), runListener(reporter)];
      return await recover(parts, [...parts.listeners, ...run], signal, isMeant);
    },
    reconcile: (key, why, signal) => reconcile(parts, key, why, signal),
    strayed: (context, signal) => strayedStacks(parts, context, signal),
  };
}

/** Sources are independent: one that cannot be read keeps no other from being deployed. */
async function execute(
  parts: PipelineParts,
  work: Sync,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<void> {
  const { trigger, origin, round, asked } = work;
  const read = { trigger, origin, round, asked, since: parts.clock.uptime() };
  const run = { work, ...read, secretSession: parts.secrets.open() };
  const listeners = askedAs(work.asked, [...parts.listeners, runListener(reporter)]);
  const deploy = (request: SourceRun["request"]) =>
    deploySource(parts, { ...run, request }, { reporter, listeners }, signal);
  const results = await Promise.allSettled(work.sources.map(deploy));
  await parts.trees.collect(signal);
  throwFailures(work.sources, results);
}

/** Deploys what a source names, and what other branches' files deploy from the one that was pushed. */
async function deploySource(
  parts: PipelineParts,
  run: RunOfSource,
  { reporter, listeners }: Omit<Audience, "deploy">,
  signal: AbortSignal,
): Promise<void> {
  const told = run.work.sources.length > 1 ? oneOfMany(reporter) : reporter;
  const deploy: Audience["deploy"] = (targets, all) => deployTargets(parts, targets, all, signal);
  await withLed(parts, run, {
    own: (led) =>
      deployNamed(parts, { ...run, led }, { reporter: told, listeners, deploy }, signal),
    theirs: (opened, named) => givingWay(parts, told, () => deploy({ opened, listeners }, named)),
  }, signal);
}

type TargetOfRun = Pick<OpenedSource & ToDo, "request" | "pushed" | "round" | "onLeft" | "teller">;
interface TargetRun extends TargetsOfSource, Pick<ToDo, "onLeft"> {
  readonly glances: Glances;
  /** Whether a missing external resource defers the target until the other targets are done. */
  readonly mayLack: boolean;
}

/** Deploys all at once; what lacks an external resource goes again after what may make it. */
async function deployTargets(
  parts: PipelineParts,
  run: TargetsOfSource,
  deployments: readonly ExpandedDeployment[],
  signal: AbortSignal,
): Promise<void> {
  await withDataOfTargets(parts, run, deployments, async (onLeft, listeners) => {
    let mayLack = deployments.length > 1;
    for (let left = deployments; left.length > 0;) {
      const glances = glancesOf(left.map((one) => keyOf(one).context));
      const targets = { ...run, listeners, onLeft, mayLack, glances };
      const done = await allInTurns(left, (each) => deployTarget(parts, targets, each, signal));
      const lacking = left.filter((_, index) => done[index] === "lacks");
      mayLack = lacking.length > 1 && lacking.length < left.length;
      left = lacking;
    }
  }, signal);
}

/** Decides about one stack and acts; every end is told, but for a lack of something external. */
async function deployTarget(
  anyParts: PipelineParts,
  { opened, listeners, onLeft, glances, removed, mayLack }: TargetRun,
  deployment: ExpandedDeployment,
  signal: AbortSignal,
): Promise<"done" | "lacks"> {
  const begun = targetOf(opened, deployment, (text) => teller.tell({ kind: "step", text }));
  const { key, trigger, origin, configuration } = begun;
  const told = { key, repository: toldRepository(anyParts, begun), trigger, origin, configuration };
  const teller = createTeller(listeners, told, begun.revision);
  const [failedBefore, since] = [anyParts.ledger.failures.get(key), anyParts.clock.now()];
  teller.tell({ kind: "pending" });
  try {
    if (removed) begun.progress("waiting for the removal of stacks that nothing names any more");
    await removed?.(filesOf(deployment, configuration.source.name));
    await anyParts.secrets.learned(stackAsOwner(key), signal);
    const left = await refusalOf(anyParts, opened, deployment, signal) ??
      heldAnyway(anyParts, begun);
    if (left !== undefined) return leave(teller, left);
    const parts = await partsFor(anyParts, key, signal);
    const resumed: string[] = []; // The engine may have been away at the start.
    const hearing = [...listeners, doneListener(resumed)];
    const before = (within: AbortSignal) => recoverStack(anyParts, hearing, key, within);
    const work = async (within: AbortSignal, _ask: () => void, lock: Slot) => {
      const refused = await opened.heldByOther(deployment);
      if (refused) return void teller.fail("", refused, signal, { isOthers: true });
      teller.tell({ kind: "admitted" });
      const target = { ...begun, since, glance: glances(parts, key), mayLack, ahead: new Map() };
      await settle(parts, { ...opened, onLeft, target, teller, resumed, lock }, within);
    };
    await lockedForTarget(parts, begun, { before, work, line: opened.line }, signal);
  } catch (thrown) {
    if (thrown === OVERTAKEN) return leave(teller, overtaken(key));
    if (mayLack && lacksExternal(thrown)) {
      begun.progress("waiting for the other deployments: something external is not there yet");
      return "lacks";
    }
    const isOthers = trigger === "poll" && isStrangers(anyParts, begun);
    const more = isOthers ? { isOthers } : again(anyParts, begun, failedBefore);
    teller.fail(`deploying ${key.name}`, thrown, signal, more);
  }
  return "done";
}

interface DecidingWork extends TargetOfRun {
  readonly target: Target;
  /** What was finished of the stack before, as it had been interrupted. */
  readonly resumed: readonly string[];
  /** The stack's lock, where it is lent while images and the like are waited for. */
  readonly lock: Slot | undefined;
}

/** How often a decision is made with the stack lent to others, who may change it without end. */
const LENT_ROUNDS = 3;

/** Decides about a stack whose lock is held and acts, again while the decision is outdated. */
async function settle(
  parts: PipelineParts,
  { target: first, lock, ...work }: DecidingWork,
  signal: AbortSignal,
): Promise<void> {
  const { glance: _early, ...later } = first;
  const attempt = (round: number) => {
    // Without the glance that the run's stacks share: it may predate the change of this stack.
    const lent = round < LENT_ROUNDS ? lock : undefined;
    const now = { ...work, target: round === 0 ? first : later, lock: lent };
    return untilAsked(parts, first.key, decideAndAct.bind(null, parts, now), signal);
  };
  await untilSettled(parts, first.key, attempt, signal);
}

/** Decides about a locked stack and acts; `moved` where others changed it, or a window closed, before. */
async function decideAndAct(
  parts: PipelineParts,
  { target: asked, request, pushed, round, onLeft, teller, resumed, lock }: DecidingWork,
  signal: AbortSignal,
  begin: () => void,
): Promise<"done" | "moved"> {
  const { key } = teller.target;
  await waitForStack(parts, key, asked.progress, signal);
  const [before, whose] = parts.ledger.marks(key);
  const held = parts.stackLock.mark();
  let target = asked;
  const decide = (within: PipelineParts) =>
    stage(parts, teller.target, "decide", async () => {
      target = { ...asked, revision: await revisionOf(within, { request, round }, asked, signal) };
      teller.lookAt(target.revision);
      return await decideAsOwner(within, target, signal);
    });
  const decision = await lendingLock(parts, { holder: teller.target, lock }, decide, signal);
  const wasLent = parts.stackLock.wasReleasedSince(formatStackKey(key), held);
  // What needs nothing, too, was judged in the name of whoever had the stack then.
  const isOut = decision.kind !== "skip" && (wasLent || !parts.ledger.isStill(key, before));
  if (isOut || parts.ledger.owners.mark(key) !== whose) return "moved";
  noteDecision(parts, { target, request, pushed }, decision);
  if (decision.kind === "skip") return leave(teller, decision, resumed);
  const since = parts.ledger.mark(key);
  teller.tell({ kind: "decided", decision: toldDecision(decision) });
  if (decision.kind === "deploy") await waitForJobs(parts, target, signal);
  return await deploying(parts, teller.target, (slot) => {
    begin();
    const acted = () => actInTime(parts, target, { decision, since, slot, onLeft, teller }, signal);
    return stage(parts, teller.target, "deploy", acted);
  }, signal);
}

/** Carries a decision out, unless a sync window closed meanwhile, and tells how it ended. */
async function actInTime(
  parts: PipelineParts,
  target: Target,
  toDo: ToDo,
  signal: AbortSignal,
): Promise<"done" | "moved"> {
  const { teller, decision: { kind } } = toDo;
  if (kind === "destroy" && await isDestroyOvertaken(parts, teller, target, signal)) return "done";
  if (kind !== "repair" && hasClosed(parts, target)) return "moved";
  teller.tell({ kind: "started" });
  const end = await act(parts, target, toDo, signal);
  if (end === undefined || end === "data_left") return end === undefined ? "moved" : "done";
  const more = end.status === "failed" ? again(parts, target) : {};
  if (kind === "deploy" && end.status === "succeeded") settleReconciliation(parts, target);
  teller.tell({ kind: "ended", end: { ...end, ...more } });
  return "done";
}
