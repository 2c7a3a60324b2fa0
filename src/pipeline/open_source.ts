import { posix } from "node:path";
import { configFileNames, isMigrationFile, MOST_BYTES, parseDeployments } from "../config/mod.ts";
import {
  type DeclaredDeployment,
  errors,
  formatRevision,
  formatStackKey,
  isStackwrightError,
  type Revision,
  type RunReporter,
  type SourceRequest,
  type StackKey,
  type StackwrightError,
  type Sync,
  type TargetListener,
  utf8,
} from "../model/mod.ts";
import type { SecretSession } from "../secrets/mod.ts";
import { preparing } from "./waits.ts";
import { sourceAsOwner, stackAsOwner, writtenSecrets } from "../system/mod.ts";
import {
  expandDeployments,
  type ExpandedDeployment,
  type Expansion,
  type FailedExpansion,
  keyOf,
  warnOf,
} from "./expand_deployments.ts";
import type { PipelineParts } from "./parts.ts";
import { webhookRefusal } from "../plan/mod.ts";
import { createTeller } from "../tell/mod.ts";
import { isStrangers } from "./stack_owner.ts";
import {
  filesOf,
  lookUp,
  noteReading,
  type Reading,
  requestLocation,
  type RequestOfRound,
  resolveOther,
} from "./resolve_revision.ts";
import { heldByPoll, otherPollsOf } from "./owner/other_polls.ts";
import { type Target, triedOnce } from "../prepare/mod.ts";

/** A source to open, and on whose behalf. */
export interface SourceRun extends Reading {
  /** Session through which the targets of one run read external secrets. */
  readonly secretSession?: SecretSession;
}

/** A source whose configuration was read. */
export interface OpenedSource extends SourceRun {
  /** Revision at which the configuration was read. */
  readonly configuration: Revision;
  readonly expansion: Expansion;
  /** Why the source did not answer: then `configuration` is its newest revision that is known. */
  readonly away?: StackwrightError;
  /**
   * The refusal of a stack that another poll of the repository has. Call it with the stack's lock
   * held: of two targets first polled together, one has the stack only then.
   */
  readonly heldByOther: (deployment: ExpandedDeployment) => Promise<StackwrightError | undefined>;
  /** Tells whether the reference of the webhook behind the run passes a filter. */
  readonly passes: (filter: string) => Promise<boolean>;
}

/** A source that was read, without the questions that a run asks about it. */
type ReadSource = Omit<OpenedSource, "heldByOther" | "passes">;

/**
 * Resolves a source's reference, reads its configuration and expands it into deployments. Tells the
 * reporter the progress, and the revision once it is known.
 *
 * Throws what the source and its configuration throw: `unsupported` for an unknown kind of source.
 */
export async function openSource(
  parts: PipelineParts,
  run: SourceRun,
  reporter: Pick<RunReporter, "describe">,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const read = () => readSource(parts, run, reporter, signal);
  const opened = await noteReading(parts, run, read, signal);
  const heldByOther = heldByOtherPolls(parts, opened, signal);
  return { ...opened, heldByOther, passes: triedOnce(parts, opened, signal) };
}

async function readSource(
  parts: PipelineParts,
  run: SourceRun,
  reporter: Pick<RunReporter, "describe">,
  signal: AbortSignal,
): Promise<ReadSource> {
  const { request } = run;
  const { name } = requestLocation(request);
  reporter.describe({ repository: name, message: `resolving ${request.reference} of ${name}` });
  const look = (within: PipelineParts) => lookUp(within, run, signal);
  const looked = await preparing(parts, { repository: name }, look, signal);
  const { revision: configuration, away } = looked;
  const shown = formatRevision(configuration);
  if (away) {
    const what = `looking after what ${shown} deployed: ${away.message}`;
    parts.log.warning(what, { repository: configuration.source.name });
  }
  reporter.describe({ repository: configuration.source.name, revision: shown });
  const declared = await readDeployments(parts, request, configuration, signal);
  const toExpand = { request, round: run.round, declared, configuration };
  const expand = (within: PipelineParts) => expandDeployments(within, toExpand, signal);
  const expansion = await preparing(parts, { repository: name }, expand, signal);
  noteOwners(parts, run, configuration, expansion);
  return { ...run, configuration, expansion, ...(away && { away }) };
}

/**
 * Refuses stacks that another poll of the repository has and still names, see {@link otherPollsOf}. One
 * that is no longer polled, or no longer names a stack, has given it up. Each is read once in a run.
 */
function heldByOtherPolls(
  parts: PipelineParts,
  { request, configuration, origin, round }: ReadSource,
  signal: AbortSignal,
): OpenedSource["heldByOther"] {
  const { name: source } = configuration.source;
  const polled = parts.options.polled.filter((other) => requestLocation(other).name === source);
  const asking = { request, origin, source };
  const othersOf = otherPollsOf(polled, asking);
  const read = new Map<SourceRequest, ReturnType<typeof namedBy>>();
  return async ({ declared }) => {
    if (declared.deployment.pause) return undefined;
    const key = keyOf({ declared });
    for (const other of othersOf(parts.ledger.current(key))) {
      const asked = { request: other, round };
      const named = await read.getOrInsertComputed(other, () => namedBy(parts, asked, signal));
      if (named === undefined || named.includes(formatStackKey(key))) {
        return heldByPoll(other, key, asking);
      }
    }
    return undefined;
  };
}

/** The stacks that a source names now; `undefined` where its configuration cannot be read now. */
async function namedBy(parts: PipelineParts, asked: RequestOfRound, signal: AbortSignal) {
  try {
    const run = { ...asked, trigger: "poll", origin: "automatic" } as const;
    const { expansion } = await readSource(parts, run, { describe: () => {} }, signal);
    const keys = expansion.failures.map(({ key }) => key);
    return [...expansion.deployments.map(keyOf), ...keys].map(formatStackKey);
  } catch (error) {
    signal.throwIfAborted();
    if (!isStackwrightError(error)) throw error;
    return isStackwrightError(error, "config_not_found", "reference_not_found") ? [] : undefined;
  }
}

/** Hides secrets of a source in texts about its stacks, too, unless they are another's. */
function noteOwners(
  parts: PipelineParts,
  { origin }: SourceRun,
  configuration: Revision,
  { deployments, failures }: Expansion,
): void {
  for (const each of [...deployments, ...failures]) {
    const [key, own] = ["key" in each ? each.key : keyOf(each), configuration.source.name];
    if (isStrangers(parts, { key, origin, configuration })) continue;
    parts.secrets.belongs(stackAsOwner(key), sourceAsOwner(own), sourceAsOwner(filesOf(each, own)));
  }
}

/** The target of a deployment; it has the configuration's revision until its own is resolved. */
export function targetOf(
  { request, configuration, trigger, origin, secretSession }: Omit<OpenedSource, "expansion">,
  { declared, found }: ExpandedDeployment,
  progress: Target["progress"],
): Target {
  const { deployment } = declared;
  return {
    key: keyOf({ declared }),
    declared,
    deployment,
    configuration,
    revision: found?.revision ?? configuration,
    ...(found === undefined ? {} : { discovered: found.stack }),
    configTarget: request.target,
    trigger,
    origin,
    progress,
    ...(secretSession === undefined ? {} : { secretSession }),
  };
}

/**
 * The deployments of a source: the inline ones of the request when it has any, else those of the
 * configuration file at the revision. Returns them only if all are valid; whether their names are
 * unique is checked after discoveries are expanded.
 *
 * Throws `config_not_found` for a missing file, `config_invalid` with every problem and its position.
 */
async function readDeployments(
  parts: PipelineParts,
  { target, deployments, withFiles = deployments.length === 0 }: SourceRequest,
  revision: Revision,
  signal: AbortSignal,
): Promise<readonly DeclaredDeployment[]> {
  if (!withFiles) return deployments;
  const base = parts.options.configBaseDir;
  const names = configFileNames(target);
  for (const name of names) {
    const file = posix.join(base, name);
    const bytes = await parts.source.read(revision, file, signal, MOST_BYTES);
    if (bytes === undefined) continue;
    if (isMigrationFile(name)) {
      tellMigrated(parts, revision, `${file}; its name here is ${names[0]}`);
    }
    const owner = sourceAsOwner(revision.source.name);
    const documents = await parts.turns.by(owner).take(() => {
      const text = utf8(bytes);
      // Problems quote values of the file.
      parts.secrets.hide(writtenSecrets(text), owner);
      return parseDeployments(text, {
        file,
        trusted: false,
        allowLocalRepositoryUrl: parts.options.allowLocalRepositoryUrl,
      });
    }, signal);
    warnOf(parts, revision, documents.flatMap((each) => each.warnings));
    return [...deployments, ...documents];
  }
  throw notFound(revision, names, base === "." ? "the root" : base, target);
}

function notFound(
  { source, reference }: Revision,
  names: readonly string[],
  where: string,
  target: string,
): StackwrightError {
  return errors.config_not_found(
    `${source.name} has no deployment configuration at ${reference}: ` +
      `expected ${names.slice(0, -1).join(", ")} or ${names.at(-1)} in ${where}` +
      (target === ""
        ? "; files of targets, such as .stackwright.nas.yaml, are read where the target is named"
        : "; with a target there is no other file"),
  );
}

/** Logs at `info` once for each file of a repository, since it is read at every poll. */
function tellMigrated({ log, mentioned }: PipelineParts, { source }: Revision, what: string): void {
  const known = `${source.name} ${what}`;
  const repository = source.name;
  log[mentioned.has(known) ? "debug" : "info"](`reading ${what}`, { repository });
  mentioned.add(known);
}

/**
 * The deployments that work is about; none where nothing names the one in `only`, which may have to be removed
 * then. Throws why the source is away, where that may name it.
 */
export function meant(
  { expansion, away }: OpenedSource,
  only: Sync["only"],
): Pick<OpenedSource["expansion"], "deployments" | "failures"> {
  if (only === undefined) return expansion;
  const isMeant = (key: StackKey) => formatStackKey(key) === formatStackKey(only);
  const deployments = expansion.deployments.filter((each) => isMeant(keyOf(each)));
  const failures = expansion.failures.filter(({ key }) => isMeant(key));
  if (deployments.length + failures.length === 0 && away !== undefined) throw away;
  return { deployments, failures };
}

/** The refusal of a deployment that ignores the webhook behind the run; else `undefined`. */
export async function refusalOf(
  parts: PipelineParts,
  { trigger, request, configuration, passes }: OpenedSource,
  { declared }: ExpandedDeployment,
  signal: AbortSignal,
) {
  if (trigger !== "webhook") return undefined;
  const plan = await webhookRefusal(
    { request, declared, revision: configuration, passes },
    (reference) => {
      const resolve = (within: PipelineParts) => resolveOther(within, request, reference, signal);
      return preparing(parts, { repository: configuration.source.name }, resolve, signal);
    },
  );
  return plan && { kind: "skip" as const, plan, changes: [] };
}

/** Tells the listeners of a deployment that could not be read, as a failed target. */
export function reportFailure(
  listeners: readonly TargetListener[],
  { trigger, origin, configuration }: OpenedSource,
  { key, revision, error }: FailedExpansion,
): void {
  const target = { key, repository: revision.source.name, trigger, origin, configuration };
  const { message } = error;
  createTeller(listeners, target, revision)
    .tell({ kind: "ended", end: { status: "failed", message, error } });
}
