import {
  type DeclaredDeployment,
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
  deploying,
  destroyTarget,
  measure,
  type PipelineParts,
  preparing,
  readDeployments,
  recover,
  type Target,
  targetEntry,
  targetMeter,
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
  const { name } = locationOf(request);
  reporter.describe({ message: `resolving ${request.reference} of ${name}` });
  const revision = await preparing(parts, name, () => resolve(parts, request, 0, signal), signal);
  if (work.sources.length === 1) {
    reporter.describe({ repository: revision.source.name, revision: formatRevision(revision) });
  }
  const deployments = await readDeployments(parts, request, revision, signal);
  reporter.describe({ message: "" });
  await Promise.all(
    deployments.map((declared) =>
      deployTarget(parts, { work, request, reporter, secretSession, declared, revision }, signal)
    ),
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

interface TargetWork extends SourceWork {
  readonly declared: DeclaredDeployment;
  readonly revision: Revision;
}

/** One stack: decide, then do it; whatever happens ends in its entry of the run. */
async function deployTarget(
  parts: PipelineParts,
  { work, request, reporter, secretSession, declared, revision }: TargetWork,
  signal: AbortSignal,
): Promise<void> {
  const { deployment } = declared;
  const key = stackKey(deployment.context, deployment.name);
  const meter = targetMeter(parts, key, revision.source.name);
  const reports = meter.listening(reporter);
  const stage = createStage(reports);
  const base = {
    key,
    declared,
    deployment,
    configTarget: request.target,
    trigger: work.trigger,
    origin: work.origin,
    progress: (step: string) => stage.say(target, step),
    secretSession,
  };
  let target: Target = { ...base, revision };
  const log = parts.log.with({ stack: key.name, context: key.context });
  reports.target(targetEntry(target, { status: "pending" }));
  try {
    const refusal = await refusalOf(parts, { work, request, declared, revision }, signal);
    if (refusal !== undefined) {
      noteDecision(parts, target, refusal);
      return reports.target(skippedEntry(target, refusal));
    }
    await parts.stackLock.run(formatStackKey(key), async () => {
      meter.hasLock();
      const decide = async () => {
        target = {
          ...base,
          revision: await revisionOf(parts, request, declared, revision, signal),
        };
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
      if (decision.kind === "skip") {
        return reports.target(skippedEntry(target, decision));
      }
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
  { work, request, declared, revision }: Omit<TargetWork, "reporter" | "secretSession">,
  signal: AbortSignal,
) {
  if (work.trigger !== "webhook") return undefined;
  return await webhookRefusal(
    { request, declared, revision },
    (reference) => parts.preparing.run(() => resolve(parts, request, 0, signal, reference), signal),
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
function noteFailure(parts: PipelineParts, target: Target, message: string): void {
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
  const { key, revision } = target;
  target.progress("removing what runs");
  const done = await destroyTarget(parts, key, revision.source.name, what, signal);
  reporter.target(targetEntry(
    target,
    done ? { status: "succeeded", message: "destroyed" } : {
      status: "skipped",
      reason: "nothing_to_destroy",
      message: `${key.name} does not run`,
    },
  ));
}

async function resolve(
  parts: PipelineParts,
  request: SourceRequest,
  gitDepth: number,
  signal: AbortSignal,
  reference = request.reference,
): Promise<Revision> {
  const location = locationOf(request);
  const depth = gitDepth > 0 ? gitDepth : parts.options.cloneDepth;
  return await measure(
    parts,
    (time, outcome) =>
      parts.meter.observe("source_preparation_duration_seconds", {
        source: location.kind,
        outcome,
      }, time),
    () => parts.source.resolve({ location, reference, depth }, signal),
  );
}

function locationOf(request: SourceRequest) {
  const own = sourceLocation(request.kind, request.url);
  return request.identity === undefined ? own : { ...own, name: request.identity };
}

/** The revision a deployment asks for: that of the trigger, unless it names a reference of its own. */
async function revisionOf(
  parts: PipelineParts,
  request: SourceRequest,
  { deployment }: DeclaredDeployment,
  revision: Revision,
  signal: AbortSignal,
): Promise<Revision> {
  if (deployment.reference === "" || deployment.reference === request.reference) return revision;
  return await resolve(parts, request, deployment.gitDepth, signal, deployment.reference);
}
