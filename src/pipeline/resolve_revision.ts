import {
  type Deployment,
  errors,
  failuresByPlace,
  isStackwrightError,
  messageOf,
  type Origin,
  type PollRound,
  type Revision,
  type SourceLocation,
  type SourcePlace,
  type SourceRequest,
  type StackwrightError,
  type Sync,
  type Trigger,
} from "../model/mod.ts";
import { sourceKey, sourceLocation } from "../source/mod.ts";
import { measure, type Target } from "../prepare/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { isStrangers, requireNotAnothers } from "./stack_owner.ts";

/** The revision that another reference of a request's source resolves to now. */
export async function resolveOther(
  parts: PipelineParts,
  request: SourceRequest,
  reference: string,
  signal: AbortSignal,
): Promise<Revision> {
  const location = requestLocation(request);
  return await resolveAt(parts, { location, reference, gitDepth: 0 }, signal);
}

/** A request, and the round of polls that it belongs to. */
export interface RequestOfRound {
  readonly request: SourceRequest;
  readonly round?: PollRound | undefined;
}

interface Looked {
  readonly revision: Revision;
  /** Why the source did not answer: then `revision` is its newest commit that is known. */
  readonly away?: StackwrightError;
}

/**
 * The revision that a request's reference resolves to now; a round of polls asks the source once.
 * When the source does not answer, its newest known commit serves instead, so that what is deployed
 * from it can still be repaired.
 *
 * Throws what the source throws, when nothing is known of it or it answers and refuses.
 */
export async function lookUp(
  parts: PipelineParts,
  { request, round }: RequestOfRound,
  signal: AbortSignal,
): Promise<Looked> {
  const { reference } = request;
  const location = requestLocation(request);
  try {
    const wanted = { location, reference, gitDepth: 0, round };
    return { revision: await resolveAt(parts, wanted, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isAway(error)) throw error;
    const revision = await parts.source.lastKnown({ location, reference, depth: 0 }, signal);
    if (revision === undefined) throw error;
    return { revision, away: error };
  }
}

/** Whether asking a source failed since it did not answer, which is no refusal. */
export function isAway(error: unknown): error is StackwrightError {
  return isStackwrightError(error, "repository_unreachable", "timeout");
}

/** Location of a request's source, with its configured name. Throws `bad_request` for a bad URL. */
export function requestLocation({ kind, url, identity }: SourceRequest): SourceLocation {
  const own = sourceLocation(kind, url);
  return identity === undefined ? own : { ...own, name: identity };
}

/** A request whose source is read, and why. */
export interface Reading extends RequestOfRound {
  readonly trigger: Trigger;
  readonly origin: Origin;
  /** What a person asked for about stacks, if anything. */
  readonly asked?: Sync["asked"];
}

/**
 * Reads a source by `read`, and records whether it can be read, for those who ask for the state of
 * its stacks. A failure of what a person asked for about stacks is told to that person only: the
 * source may be a checkout of theirs. Returns and throws as `read` does.
 */
export async function noteReading<Read extends Pick<Looked, "away">>(
  parts: PipelineParts,
  reading: Reading,
  read: () => Promise<Read>,
  signal: AbortSignal,
): Promise<Read> {
  const fail = (error: unknown) => {
    if (reading.asked !== undefined || signal.aborted || !isAboutSource(error)) return;
    noteFailure(parts, reading, error);
  };
  try {
    const done = await read();
    const key = sourceKey(reading.request);
    if (done.away !== undefined) fail(done.away);
    else if (key !== undefined) parts.ledger.sources.clear(key);
    return done;
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** False for faults of this machine, which are no fault of the source and are told by themselves. */
function isAboutSource(error: unknown): error is StackwrightError {
  return isStackwrightError(error) &&
    !isStackwrightError(error, "internal", "data_dir_unusable", "ledger_unusable", "cancelled");
}

function noteFailure(
  { ledger, clock, log, options }: PipelineParts,
  { request, trigger, origin }: Reading,
  { code, message }: StackwrightError,
): void {
  const key = sourceKey(request);
  if (key === undefined) return;
  try {
    const { reference, target } = request;
    const place = { repository: requestLocation(request).name, reference, target };
    const retryAt = options.nextPoll(place);
    // A person's typo, or a pushed branch that is gone or without a configuration, would be told for long.
    const isMissing = code === "config_not_found" || code === "reference_not_found";
    const isWanted = retryAt !== undefined || origin === "automatic" && !isMissing;
    if (!isWanted && !hasStacks(ledger, place)) return;
    const isPoll = trigger === "poll";
    ledger.sources.fail(key, { ...place, message, at: clock.now(), retryAt, isPoll });
  } catch (error) {
    // The run tells why the source cannot be read, and must not end with this instead.
    log.warning(`that a source cannot be read was not recorded: ${messageOf(error)}`);
  }
}

function hasStacks({ deployedStacks }: PipelineParts["ledger"], asked: SourcePlace): boolean {
  const isIt = failuresByPlace([asked]);
  return deployedStacks().some(({ place }) => isIt(place) !== undefined);
}

/** A deployment, with the request and the configuration that it comes from. */
interface Asked extends RequestOfRound {
  readonly deployment: Deployment;
  /** Revision at which the configuration was read. */
  readonly configuration: Revision;
}

/**
 * The revision that a deployment asks for: that of its configuration, unless it names a reference
 * or a repository of its own. In another repository, the default is the reference of the trigger.
 *
 * Throws what the source throws, `config_invalid` for an invalid URL or reference;
 * `reference_not_found` says what to do.
 */
export async function deployedRevision(
  parts: PipelineParts,
  { request, round, deployment, configuration }: Asked,
  signal: AbortSignal,
): Promise<Revision> {
  const { name, repositoryUrl, reference, gitDepth } = deployment;
  if (reference !== "") round?.note(reference);
  if (repositoryUrl !== "") {
    return await asWritten(name, resolveElsewhere(parts, { request, round }, deployment, signal));
  }
  const here = { location: requestLocation(request), gitDepth, round };
  if (reference !== "" && reference !== request.reference) {
    return await asWritten(name, resolveAt(parts, { ...here, reference }, signal));
  }
  if (parts.options.cloneDepth > 0 && gitDepth > parts.options.cloneDepth) {
    // Fetches history only; a commit that arrives in between is left to the next run.
    await resolveAt(parts, { ...here, reference: request.reference }, signal);
  }
  return configuration;
}

/** Turns `bad_request` into `config_invalid`: the configuration is at fault, not the request. */
async function asWritten<Answer>(name: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw fault(name, error);
  }
}

/** The repository that a configuration names. Throws `config_invalid` for an invalid URL. */
function repositoryNamed(name: string, url: string): SourceLocation {
  try {
    return sourceLocation("git", url);
  } catch (error) {
    throw fault(name, error);
  }
}

/** Name of the source of a deployment's files; `own` is that of its configuration, also for a bad URL. */
export function filesOf(
  { revision, found, declared }: {
    readonly revision?: Revision;
    readonly found?: { readonly revision: Revision };
    readonly declared?: { readonly deployment: Deployment };
  },
  own: string,
): string {
  const known = revision ?? found?.revision;
  if (known !== undefined) return known.source.name;
  const { name = "", repositoryUrl = "" } = declared?.deployment ?? {};
  if (repositoryUrl === "") return own;
  try {
    return repositoryNamed(name, repositoryUrl).name;
  } catch {
    // That one fails by itself.
    return own;
  }
}

function fault(name: string, error: unknown): unknown {
  if (!isStackwrightError(error, "bad_request")) return error;
  const message = `deployment ${name}: ${error.message}`;
  return errors.config_invalid(message, { cause: error });
}

async function resolveElsewhere(
  parts: PipelineParts,
  { request, round }: RequestOfRound,
  { name, repositoryUrl, reference, gitDepth }: Deployment,
  signal: AbortSignal,
): Promise<Revision> {
  const location = repositoryNamed(name, repositoryUrl);
  const wanted = { location, reference: reference || request.reference, gitDepth, round };
  try {
    return await resolveAt(parts, wanted, signal);
  } catch (error) {
    if (reference !== "" || !isStackwrightError(error, "reference_not_found")) throw error;
    throw errors.reference_not_found(
      `deployment ${name || location.name}: the repository ${location.name} has no reference ` +
        `${JSON.stringify(wanted.reference)}, which this run is about; set reference to one it has`,
      { cause: error },
    );
  }
}

interface Wanted {
  readonly location: SourceLocation;
  readonly reference: string;
  readonly gitDepth: number;
  readonly round?: PollRound | undefined;
}

async function resolveAt(
  parts: PipelineParts,
  { location, reference, gitDepth, round }: Wanted,
  signal: AbortSignal,
): Promise<Revision> {
  const depth = gitDepth > 0 ? gitDepth : parts.options.cloneDepth;
  return await measure(parts, (time, outcome) => {
    const labels = { source: location.kind, outcome };
    parts.meter.observe("source_preparation_duration_seconds", labels, time);
  }, () => parts.source.resolve({ location, reference, depth, round }, signal));
}

/**
 * The revision a target is deployed from; a destroy does not look its own repository up. That of a stack
 * with another owner is not asked: how long it takes to answer is up to it, and no other deployment has the stack
 * meanwhile.
 *
 * Throws `conflict` as {@link requireNotAnothers} does.
 */
export async function revisionOf(
  parts: PipelineParts,
  { request, round }: RequestOfRound,
  target: Target,
  signal: AbortSignal,
): Promise<Revision> {
  const { deployment, configuration, discovered, revision } = target;
  if (discovered !== undefined || deployment.destroy.enabled) return revision;
  if (deployment.repositoryUrl + deployment.reference !== "") requireNotAnothers(parts, target);
  return await deployedRevision(parts, { request, round, deployment, configuration }, signal);
}

/** Name of the repository that a target is deployed from. */
export function repositoryOf(
  { deployment, configuration }: Pick<Target, "deployment" | "configuration">,
): string {
  const { repositoryUrl } = deployment;
  return repositoryUrl === ""
    ? configuration.source.name
    : repositoryNamed(deployment.name, repositoryUrl).name;
}

/**
 * Name of the repository that a target is told under: what a stranger is refused is no error of the one
 * that it names to deploy from.
 */
export function toldRepository(parts: Pick<PipelineParts, "ledger">, target: Target): string {
  const isOwn = target.deployment.repositoryUrl === "" || isStrangers(parts, target);
  return isOwn ? target.configuration.source.name : repositoryOf(target);
}
