import {
  formatRevision,
  formatStackKey,
  type RunReporter,
  toStackwrightError,
  type Work,
} from "./model/mod.ts";
import {
  act,
  createGlance,
  createStage,
  decideTarget,
  deploying,
  type ExpandedDeployment,
  type FailedExpansion,
  noteDecision,
  noteDiscovered,
  noteFailure,
  notingOutcome,
  type OpenedSource,
  openSource,
  type PipelineParts,
  preparing,
  recover,
  removeObsolete,
  repositoryOf,
  resolveRequest,
  revisionOf,
  settleOwner,
  skippedEntry,
  type SourceRun,
  targetMeter,
  targetOf,
  waitForJobs,
  waitForStack,
} from "./pipeline/mod.ts";
import { webhookRefusal } from "./plan/mod.ts";
import { type Glance, type Target, targetEntry } from "./prepare/mod.ts";

/** The product: makes engines equal to what sources say. */
export interface Pipeline {
  /**
   * Looks at every source of a piece of work and deploys what it says. Ends normally when every
   * target was reported in a final state, failed ones included; throws what kept a source from being
   * read, as an `AggregateError` where there are several sources.
   */
  execute(work: Work, reporter: RunReporter, signal: AbortSignal): Promise<void>;
  /** Finishes what an earlier process left open. Call it once, before the first `execute`. */
  recover(signal: AbortSignal): Promise<void>;
}

/** Makes the pipeline. */
export function createPipeline(parts: PipelineParts): Pipeline {
  return {
    execute: (work, reporter, signal) => execute(parts, work, reporter, signal),
    recover: (signal) => recover(parts, signal),
  };
}

/** One broken source must not keep the others from being looked at. */
async function execute(
  parts: PipelineParts,
  work: Work,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<void> {
  const { trigger, origin } = work;
  const secretSession = parts.secrets.open();
  let acts = false;
  const watched: RunReporter = {
    describe: (facts) => reporter.describe(facts),
    target(entry) {
      acts ||= entry.status === "running";
      reporter.target(entry);
    },
  };
  const results = await Promise.allSettled(
    work.sources.map((request) =>
      deploySource(parts, { work, request, trigger, origin, secretSession }, watched, signal)
    ),
  );
  if (acts) await parts.trees.collect(signal);
  const failures = results.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
  if (failures.length === 0) return;
  throw work.sources.length === 1 ? failures[0] : new AggregateError(failures);
}

/** open ▸ every deployment by itself. A source that is away fails the run in the end. */
async function deploySource(
  parts: PipelineParts,
  { work, ...run }: SourceRun & { readonly work: Work },
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<void> {
  const { sources } = work;
  const describe: RunReporter["describe"] = ({ repository: _one, revision: _its, ...facts }) =>
    reporter.describe(facts);
  const opened = await openSource(parts, run, sources.length > 1 ? { describe } : reporter, signal);
  const { expansion: { deployments, failures }, away } = opened;
  for (const failure of failures) reportFailure(parts, opened, failure, reporter);
  reporter.describe({ message: "" });
  // First, so that what they hold on the host is free for what takes their place.
  if (away === undefined) await removeObsolete(parts, opened, reporter, signal);
  const glance = createGlance(parts, deployments.length);
  await Promise.all(
    deployments.map((each) => deployTarget(parts, { opened, reporter, glance }, each, signal)),
  );
  if (away !== undefined) throw away;
}

interface TargetRun {
  readonly opened: OpenedSource;
  readonly reporter: RunReporter;
  readonly glance: Glance;
}

/** One stack: decide, then do it; whatever happens ends in its entry of the run. */
async function deployTarget(
  parts: PipelineParts,
  { opened, reporter, glance }: TargetRun,
  deployment: ExpandedDeployment,
  signal: AbortSignal,
): Promise<void> {
  const { request } = opened;
  const begun = targetOf(opened, deployment, (step) => stage.say(target, step));
  const { key } = begun;
  const meter = targetMeter(parts, key, repositoryOf(begun));
  const reports = meter.listening(reporter);
  const stage = createStage(reports);
  let target: Target = { ...begun, glance };
  const log = parts.log.with({ stack: key.name, context: key.context });
  let attempt: number | undefined;
  reports.target(targetEntry(target, { status: "pending" }));
  try {
    const refusal = await refusalOf(parts, opened, deployment, signal);
    if (refusal !== undefined) {
      noteDecision(parts, target, refusal);
      return reports.target(skippedEntry(target, refusal));
    }
    const { repository } = meter;
    const decide = async () => {
      target = { ...target, revision: await revisionOf(parts, request, target, signal) };
      return await decideTarget(parts, target, signal);
    };
    const decideAndAct = async (): Promise<"done" | "moved"> => {
      await waitForStack(parts, key, target.progress, signal);
      const since = parts.ledger.mark(key);
      const measured = () => meter.stage("decide", decide);
      const decision = await preparing(parts, repository, measured, signal);
      if (decision.kind !== "skip" && parts.ledger.mark(key) !== since) return "moved";
      const decided = noteDecision(parts, target, decision);
      noteDiscovered(parts, target, decision);
      const isAsWanted = decision.kind === "skip" && decision.plan.reason === "no_changes";
      if (isAsWanted || decision.kind === "deploy") settleOwner(parts, target);
      if (decision.kind === "skip") {
        reports.target(skippedEntry(target, decision));
        return "done";
      }
      attempt = decided;
      if (decision.kind === "deploy") await waitForJobs(parts, target, signal);
      stage.start(target);
      const noting = notingOutcome(parts, decided, reports);
      const deploy = () => act(parts, target, { decision, since }, noting, signal);
      return await deploying(parts, repository, () => meter.stage("deploy", deploy), signal);
    };
    await parts.stackLock.run(formatStackKey(key), async () => {
      meter.hasLock();
      while (await decideAndAct() === "moved") {
        log.info("another process changed the stack meanwhile: deciding again");
        target = lookingAnew(target);
      }
    }, signal);
  } catch (thrown) {
    const error = toStackwrightError(
      signal.aborted ? signal.reason : thrown,
      `deploying ${key.name}`,
    );
    noteFailure(parts, target, error.message, attempt);
    const { code, cause } = error;
    const more = cause === undefined ? {} : { cause };
    log.error(`deployment failed: ${error.message}`, {
      code,
      ...more,
      revision: target.revision.id,
    });
    reports.target(targetEntry(target, { status: "failed", message: error.message }));
  } finally {
    meter.end();
  }
}

/** What the stacks of the run were looked at with may be out of date for this one. */
function lookingAnew({ glance: _glance, ...target }: Target): Target {
  return target;
}

/** Webhooks say what they are about, and not every deployment follows that. */
async function refusalOf(
  parts: PipelineParts,
  { trigger, request, configuration }: OpenedSource,
  { declared }: ExpandedDeployment,
  signal: AbortSignal,
) {
  if (trigger !== "webhook") return undefined;
  const plan = await webhookRefusal(
    { request, declared, revision: configuration },
    (reference) =>
      parts.preparing.run(() => resolveRequest(parts, request, 0, signal, reference), signal),
  );
  return plan && { kind: "skip" as const, plan, changes: [] };
}

/** What cannot even be read is a failed target like others. */
function reportFailure(
  parts: PipelineParts,
  { trigger, origin, configuration }: OpenedSource,
  { key, revision, error }: FailedExpansion,
  reporter: RunReporter,
): void {
  const { message } = error;
  parts.log.error(`deployment failed: ${message}`, { stack: key.name, context: key.context });
  noteFailure(parts, { key, revision, configuration, trigger, origin }, message);
  const shown = { context: key.context, stack: key.name, revision: formatRevision(revision) };
  reporter.target({ ...shown, status: "failed", message });
}
