import {
  formatRevision,
  formatStackKey,
  type Revision,
  type RunReporter,
  type RunTarget,
  type SkipReason,
  type SourceRequest,
  stackKey,
  StackwrightError,
  type TargetDecision,
  toStackwrightError,
  type Work,
} from "./model/mod.ts";
import {
  carryOut,
  decideTarget,
  type Decision,
  deployedRevision,
  deploying,
  destroyTarget,
  expandDeployments,
  type ExpandedDeployment,
  type FailedExpansion,
  type PipelineParts,
  preparing,
  readDeployments,
  recover,
  removeObsolete,
  requestLocation,
  resolveRequest,
  type Target,
  targetEntry,
  targetMeter,
  waitForJobs,
  webhookRefusal,
} from "./pipeline/mod.ts";
import type { SecretSession } from "./secrets/mod.ts";
import { sourceLocation } from "./source/mod.ts";

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
  const secretSession = parts.secrets.open();
  const results = await Promise.allSettled(
    work.sources.map((request) =>
      deploySource(parts, { work, request, reporter, secretSession }, signal)
    ),
  );
  const failures = results.flatMap((each) => each.status === "rejected" ? [each.reason] : []);
  if (failures.length === 0) return;
  throw work.sources.length === 1 ? failures[0] : new AggregateError(failures);
}

interface SourceWork {
  readonly work: Work;
  readonly request: SourceRequest;
  readonly reporter: RunReporter;
  /** Every deployment of the work reads its external secrets with this one. */
  readonly secretSession: SecretSession;
}

/** resolve ▸ read ▸ every deployment by itself. */
async function deploySource(
  parts: PipelineParts,
  { work, request, reporter, secretSession }: SourceWork,
  signal: AbortSignal,
): Promise<void> {
  requireGit(request);
  const { name } = requestLocation(request);
  reporter.describe({ message: `resolving ${request.reference} of ${name}` });
  const revision = await preparing(
    parts,
    name,
    () => resolveRequest(parts, request, 0, signal),
    signal,
  );
  if (work.sources.length === 1) {
    reporter.describe({ repository: revision.source.name, revision: formatRevision(revision) });
  }
  const declared = await readDeployments(parts, request, revision, signal);
  const toExpand = { request, declared, configuration: revision };
  const expand = () => expandDeployments(parts, toExpand, signal);
  const expansion = await preparing(parts, name, expand, signal);
  for (const failure of expansion.failures) reportFailure(parts, work, failure, reporter);
  const { trigger, origin } = work;
  const obsolete = { request, configuration: revision, expansion, trigger, origin };
  reporter.describe({ message: "" });
  // First, so that what they hold on the host is free for what takes their place.
  await removeObsolete(parts, obsolete, reporter, signal);
  await Promise.all(
    expansion.deployments.map((each) => {
      const common = { work, request, reporter, secretSession, configuration: revision };
      return deployTarget(parts, { ...common, ...each }, signal);
    }),
  );
}

/** Artifacts are announced and polled like repositories, but nothing reads them yet. */
function requireGit({ kind, url }: SourceRequest): void {
  if (kind === "git") return;
  const { name } = sourceLocation(kind, url);
  throw new StackwrightError(
    "unsupported",
    `${name} is an OCI artifact, and this version deploys from Git repositories only`,
  );
}

/** What cannot even be read is a failed target like others. */
function reportFailure(
  parts: PipelineParts,
  { trigger, origin }: Work,
  { key, revision, error }: FailedExpansion,
  reporter: RunReporter,
): void {
  const { message } = error;
  parts.log.error(`deployment failed: ${message}`, { stack: key.name, context: key.context });
  noteFailure(parts, { key, revision, trigger, origin }, message);
  const shown = { context: key.context, stack: key.name, revision: formatRevision(revision) };
  reporter.target({ ...shown, status: "failed", message });
}

interface TargetWork extends SourceWork, ExpandedDeployment {
  readonly configuration: Revision;
}

/** One stack: decide, then do it; whatever happens ends in its entry of the run. */
async function deployTarget(
  parts: PipelineParts,
  { work, request, reporter, secretSession, declared, configuration, found }: TargetWork,
  signal: AbortSignal,
): Promise<void> {
  const { deployment } = declared;
  const key = stackKey(deployment.context, deployment.name);
  const meter = targetMeter(parts, key, repositoryOf({ deployment, configuration }));
  const reports = meter.listening(reporter);
  const stage = createStage(reports);
  const base = {
    key,
    declared,
    deployment,
    configuration,
    ...(found === undefined ? {} : { discovered: found.stack }),
    configTarget: request.target,
    trigger: work.trigger,
    origin: work.origin,
    progress: (step: string) => stage.say(target, step),
    secretSession,
  };
  let target: Target = { ...base, revision: found?.revision ?? configuration };
  const log = parts.log.with({ stack: key.name, context: key.context });
  reports.target(targetEntry(target, { status: "pending" }));
  try {
    const refusal = await refusalOf(parts, { work, request, declared, configuration }, signal);
    if (refusal !== undefined) {
      noteDecision(parts, target, refusal);
      return reports.target(skippedEntry(target, refusal));
    }
    await parts.stackLock.run(formatStackKey(key), async () => {
      meter.hasLock();
      const decide = async () => {
        target = { ...target, revision: await revisionOf(parts, request, target, signal) };
        return await decideTarget(parts, target, signal);
      };
      const { repository } = meter;
      const decision = await preparing(
        parts,
        repository,
        () => meter.stage("decide", decide),
        signal,
      );
      noteDecision(parts, target, decision);
      noteDiscovered(parts, target, decision);
      if (decision.kind === "skip") {
        return reports.target(skippedEntry(target, decision));
      }
      if (decision.kind === "deploy") await waitForJobs(parts, target, signal);
      stage.start(target);
      const deploy = () => act(parts, target, decision, reports, signal);
      await deploying(parts, repository, () => meter.stage("deploy", deploy), signal);
    }, signal);
  } catch (thrown) {
    const error = toStackwrightError(
      signal.aborted ? signal.reason : thrown,
      `deploying ${key.name}`,
    );
    noteFailure(parts, target, error.message);
    log.error(`deployment failed: ${error.message}`, { error, revision: target.revision.id });
    reports.target(targetEntry(target, { status: "failed", message: error.message }));
  } finally {
    meter.end();
  }
}

/** Tells a run which step a target is in, each step once. */
function createStage(reporter: RunReporter) {
  let status: "pending" | "running" = "pending";
  let said = "";
  return {
    start(target: Target) {
      status = "running";
      reporter.target(targetEntry(target, { status }));
    },
    say(target: Target, step: string) {
      if (step === said) return;
      said = step;
      reporter.target(targetEntry(target, { status, message: step }));
    },
  };
}

/** Webhooks say what they are about, and not every deployment follows that. */
async function refusalOf(
  parts: PipelineParts,
  { work, request, declared, configuration }: Omit<TargetWork, "reporter" | "secretSession">,
  signal: AbortSignal,
) {
  if (work.trigger !== "webhook") return undefined;
  return await webhookRefusal(
    { request, declared, revision: configuration },
    (reference) =>
      parts.preparing.run(() => resolveRequest(parts, request, 0, signal, reference), signal),
  );
}

function skippedEntry(target: Target, { plan, retryAt }: Decision & { readonly kind: "skip" }) {
  const { message, services } = plan;
  const when = retryAt === undefined ? {} : { retryAt };
  const reason = reasonOf(plan.reason, message);
  return targetEntry(target, { status: "skipped", reason, message, services, ...when });
}

/** A pause says in its reason what is paused. */
function reasonOf(reason: SkipReason, message: string): SkipReason {
  return reason === "paused" ? `paused: ${message}` : reason;
}

/** Remembers who may remove a stack when nothing names it any more. */
function noteDiscovered(parts: PipelineParts, target: Target, decision: Decision): void {
  const { key, discovered } = target;
  const exists = decision.kind === "deploy" ||
    (decision.kind === "skip" && decision.plan.reason === "no_changes");
  if (!exists) return;
  if (discovered === undefined) parts.ledger.discovered.remove(key);
  else parts.ledger.discovered.set(discovered);
}

/** Every trigger leaves its decision, the ones to do nothing included. */
function noteDecision(parts: PipelineParts, target: Target, decision: Decision): void {
  const { trigger, origin, key } = target;
  parts.ledger.decisions.add(key, {
    trigger,
    origin,
    revision: formatRevision(target.revision),
    ...whatIsDecided(decision),
    changes: decision.changes,
  }, parts.clock.now());
}

function whatIsDecided(
  decision: Decision,
): Pick<TargetDecision, "kind" | "reason" | "message" | "services"> {
  if (decision.kind === "destroy") {
    return { kind: "destroy", message: "destroy is set", services: [] };
  }
  const { plan } = decision;
  const { message, services } = plan;
  if (decision.kind === "repair") {
    const { hold, recorded } = decision;
    const repair = `${hold.message}; release ${recorded.number} is repaired: ${message}`;
    return { kind: "repair", reason: hold.reason, message: repair, services };
  }
  const reason = plan.kind === "skip" ? { reason: plan.reason } : {};
  return { kind: plan.kind, ...reason, message, services };
}

/** What kept a decision from being made is worth explaining too. */
function noteFailure(
  parts: PipelineParts,
  target: Pick<Target, "key" | "revision" | "trigger" | "origin">,
  message: string,
): void {
  const { trigger, origin, key } = target;
  const revision = formatRevision(target.revision);
  const nothing = { changes: [], services: [] };
  try {
    const decision = { trigger, origin, revision, kind: "error" as const, message, ...nothing };
    parts.ledger.decisions.add(key, decision, parts.clock.now());
  } catch (error) {
    // A full disk may be the very failure that is being told.
    parts.log.warning("the decision could not be recorded", { stack: key.name, error });
  }
}

/** The part after the commit point: containers change here and nowhere else. */
async function act(
  parts: PipelineParts,
  target: Target,
  decision: Exclude<Decision, { kind: "skip" }>,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<void> {
  if (decision.kind === "destroy") return await destroy(parts, target, reporter, signal);
  if (decision.kind === "repair") {
    return reporter.target(await repair(parts, target, decision, signal));
  }
  const { plan, prepared, observed, adopts } = decision;
  const { deployment, key } = target;
  const log = parts.log.with({ stack: key.name, context: key.context });
  log.info(`deploying: ${plan.message}`, { revision: target.revision.id });
  const result = await carryOut(parts, {
    next: prepared,
    services: plan.services,
    observed,
    removeOrphans: deployment.removeOrphans && !adopts,
    pruneImages: deployment.pruneImages,
    timeoutSeconds: deployment.timeoutSeconds,
    automatic: target.origin === "automatic",
    progress: target.progress,
    note: plan.message,
  }, signal);
  const { services } = plan;
  if (result.kind === "deployed") {
    parts.ledger.pins.remove(key);
    const adopted = adopts ? "; adopted containers that nobody managed, orphans were kept" : "";
    log.info(`deployed: ${plan.message}`, { revision: target.revision.id });
    const message = `${plan.message}${adopted}`;
    return reporter.target(targetEntry(target, { status: "succeeded", message, services }));
  }
  const message = `${plan.message}: ${result.error.message}; ${result.text}`;
  log.error(`deployment failed: ${message}`, { revision: target.revision.id });
  reporter.target(targetEntry(target, { status: "failed", message, services }));
}

/** What the source wants is held back all the same, so the target counts as skipped. */
async function repair(
  parts: PipelineParts,
  target: Target,
  { hold, plan, placed, recorded, observed, remembers }: Decision & { readonly kind: "repair" },
  signal: AbortSignal,
): Promise<RunTarget> {
  const { services } = plan;
  const what = `release ${recorded.number}: ${plan.message}`;
  const log = parts.log.with({ stack: target.key.name, context: target.key.context });
  log.info(`repairing ${what}`, { revision: recorded.revision.id });
  const result = await carryOut(parts, {
    next: placed,
    services,
    observed,
    removeOrphans: false,
    pruneImages: false,
    timeoutSeconds: target.deployment.timeoutSeconds,
    automatic: target.origin === "automatic",
    progress: target.progress,
    note: `repaired ${what}`,
    remembers,
  }, signal);
  if (result.kind !== "deployed") {
    const message = `repairing ${what}: ${result.error.message}; ${result.text}`;
    log.error(message, { revision: recorded.revision.id });
    return targetEntry(target, { status: "failed", message, services });
  }
  const message = `${hold.message}; repaired ${what}`;
  log.info(`repaired ${what}`, { revision: recorded.revision.id });
  const when = hold.retryAt === undefined ? {} : { retryAt: hold.retryAt };
  const reason = reasonOf(hold.reason, message);
  return targetEntry(target, { status: "skipped", reason, message, services, ...when });
}

async function destroy(
  parts: PipelineParts,
  target: Target,
  reporter: RunReporter,
  signal: AbortSignal,
): Promise<void> {
  const { removeVolumes, removeImages } = target.deployment.destroy;
  const what = { removeVolumes, removeImages };
  const { key, configuration, deployment } = target;
  const elsewhere = deployment.repositoryUrl === "" ? {} : { repository: repositoryOf(target) };
  const by = { configuration: configuration.source.name, ...elsewhere };
  target.progress("removing what runs");
  const done = await destroyTarget(parts, key, by, what, signal);
  reporter.target(targetEntry(
    target,
    done ? { status: "succeeded", message: "destroyed" } : {
      status: "skipped",
      reason: "nothing_to_destroy",
      message: `${key.name} does not run`,
    },
  ));
}

/** The revision a target is deployed from. One that is destroyed needs none of another repository. */
async function revisionOf(
  parts: PipelineParts,
  request: SourceRequest,
  { deployment, configuration, discovered, revision }: Target,
  signal: AbortSignal,
): Promise<Revision> {
  if (discovered !== undefined || deployment.destroy.enabled) return revision;
  return await deployedRevision(parts, { request, deployment, configuration }, signal);
}

/** Name of the repository that a target is deployed from. */
function repositoryOf(
  { deployment, configuration }: Pick<Target, "deployment" | "configuration">,
): string {
  const { repositoryUrl } = deployment;
  return repositoryUrl === ""
    ? configuration.source.name
    : sourceLocation("git", repositoryUrl).name;
}
