import {
  type DiscoveredStack,
  formatRevision,
  formatStackKey,
  isStackwrightError,
  ownerFrom,
  type Revision,
  type RunReporter,
  type SourceRequest,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { SecretSession } from "../secrets/mod.ts";
import { preparing } from "./waits.ts";
import { recordedOwner } from "../record/mod.ts";
import { type Line, once, sourceAsOwner, stackAsOwner } from "../system/mod.ts";
import {
  discoveryOwner,
  expandDeployments,
  type ExpandedDeployment,
  type Expansion,
  keyOf,
  namedIn,
  neighboursOf,
  wantedOf,
} from "./expand_deployments.ts";
import type { PipelineParts } from "./parts.ts";
import { ofOtherBranch, webhookRefusal } from "../plan/mod.ts";
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
import { lineOf } from "./owner/line_of.ts";
import { otherBranch, otherTargets, requestsOf } from "./owner/other_branch.ts";
import { besidePolls, heldByPoll, otherPollsOf } from "./owner/other_polls.ts";
import type { Reaching } from "./source/look_into.ts";
import { readDeployments } from "./source/read_deployments.ts";
import { type Target, triedOnce } from "../prepare/mod.ts";

/** A source to open, and on whose behalf. */
export interface SourceRun extends Reading, Reaching {
  /**
   * The request of the webhook behind the run, where that is about another branch, from which this source's
   * file deploys stacks.
   */
  readonly pushed?: SourceRequest;
  /** When the run began, as uptime: of runs that wait for the same the last one is enough. */
  readonly since?: number;
  /** Session through which the targets of one run read external secrets. */
  readonly secretSession?: SecretSession;
}

/** A source whose configuration was read. */
export interface OpenedSource extends SourceRun {
  /** Revision at which the configuration was read. */
  readonly configuration: Revision;
  readonly expansion: Expansion;
  readonly neighbours: NonNullable<Target["neighbours"]>;
  /** Why the source did not answer: then `configuration` is its newest revision that is known. */
  readonly away?: StackwrightError;
  /**
   * The refusal of a stack that another poll of the repository has. Call it with the stack's lock
   * held: of two targets first polled together, one has the stack only then.
   */
  readonly heldByOther: (deployment: ExpandedDeployment) => Promise<StackwrightError | undefined>;
  /** The branch whose file has a stack, by the ledger, and still names it, where that is another one. */
  readonly otherBranch: (key: StackKey) => Promise<string | undefined>;
  /** The polls beside this one of its repository and reference, each of which discovers for itself. */
  readonly besidePolls: readonly SourceRequest[];
  /**
   * Whether one of these, or another target of the source, names a stack, or cannot be read, as where its discoveries
   * take long.
   */
  readonly isNamedBeside: (key: StackKey) => Promise<boolean>;
  /** The stacks that those want, as far as they can be read. */
  readonly wantedBeside: () => Promise<readonly StackKey[]>;
  /** Where it waits with other runs of its configuration that do the same. */
  readonly line: Line;
  /** Tells whether the reference of the webhook behind the run passes a filter. */
  readonly passes: (filter: string) => Promise<boolean>;
}

type AskedOfOthers = Pick<
  OpenedSource,
  "heldByOther" | "otherBranch" | "besidePolls" | "isNamedBeside" | "wantedBeside"
>;

/** A source that was read, without the questions that a run asks about it. */
type ReadSource = Omit<OpenedSource, keyof AskedOfOthers | "neighbours" | "passes" | "line">;

/**
 * Resolves a source's reference, reads its configuration and expands it into deployments. Tells the
 * reporter the progress, and the revision once it is known.
 *
 * Throws what the source and its configuration throw: `unsupported` for an unknown kind of source.
 */
export async function openSource(
  parts: PipelineParts,
  run: SourceRun,
  reporter: Pick<RunReporter, "describe" | "takesOver">,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const read = () => readSource(parts, run, reporter, signal);
  const opened = await noteReading(parts, run, read, signal);
  return {
    ...opened,
    ...heldByOthers(parts, opened, signal),
    neighbours: neighboursOf(parts, opened),
    passes: triedOnce(parts, pushedTo(opened), signal),
    line: lineOf(opened, reporter.takesOver),
  };
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
  const progress = (message: string) => reporter.describe({ message });
  const { round, patience, waitedFor, reached } = run;
  const reaching = { patience, waitedFor, reached };
  const toExpand = { request, round, ...reaching, declared, configuration, progress };
  const expand = (within: PipelineParts) => expandDeployments(within, toExpand, signal);
  const expansion = await preparing(parts, { repository: name }, expand, signal);
  noteOwners(parts, run, configuration, expansion);
  return { ...run, configuration, expansion, ...(away && { away }) };
}

/** What the webhook behind a run is about. */
function pushedTo(
  { request, configuration, pushed }: Pick<OpenedSource, "request" | "configuration" | "pushed">,
) {
  if (pushed === undefined) return { request, configuration };
  const { reference } = pushed;
  return { request: pushed, configuration: { ...configuration, reference } };
}

/**
 * Tells of stacks that another poll of the repository has and still names, see {@link otherPollsOf}, and of
 * those of another branch. One that is no longer polled, or no longer names a stack, has given it up. Each
 * is read once in a run.
 */
function heldByOthers(
  parts: PipelineParts,
  { request, configuration, origin, round }: ReadSource,
  signal: AbortSignal,
): AskedOfOthers {
  const { name: source } = configuration.source;
  const polled = polledOf(parts, source);
  const asking = { request, origin, source };
  const othersOf = otherPollsOf(polled, asking);
  const read = new Map<string, ReturnType<typeof namedBy>>();
  const ask = (other: SourceRequest) =>
    read.getOrInsertComputed(
      JSON.stringify(other),
      () => namedBy(parts, { request: other, round }, signal),
    );
  const names = async (other: SourceRequest, key: StackKey, isUnsure = () => true) => {
    const { named = [], unknown } = await ask(other);
    if (named.includes(formatStackKey(key))) return true;
    return unknown === "all" || unknown !== undefined && isUnsure();
  };
  const { reference } = configuration;
  const beside = besidePolls(polled, { ...request, reference });
  const others = once(() => {
    return [...beside, ...otherTargets(parts.ledger, configuration, [request, ...beside])];
  });
  return {
    besidePolls: beside,
    isNamedBeside: async (key) => {
      for (const other of others()) if (await names(other, key)) return true;
      return false;
    },
    wantedBeside: async () => {
      return (await Promise.all(others().map(ask))).flatMap(({ wanted = [] }) => wanted);
    },
    heldByOther: async ({ declared }) => {
      if (declared.deployment.pause) return undefined;
      const key = keyOf({ declared });
      for (const other of othersOf(() => parts.ledger.current(key))) {
        // As it was when all was known: the lock is held, and how long a discovery takes is up to its author.
        const wasIts = () => isOf(parts.ledger.discovered.get(key), other, configuration);
        if (await names(other, key, wasIts)) return heldByPoll(other, key, asking);
      }
      return undefined;
    },
    otherBranch: async (key) => {
      const owner = recordedOwner(parts.ledger, key);
      const branch = otherBranch(owner, ownerFrom(configuration));
      if (branch === undefined) return undefined;
      for (const other of requestsOf(branch, polled, { request })) {
        if (await names(other, key)) return branch;
      }
      return undefined;
    },
  };
}

/** The polls of a source. */
export function polledOf({ options }: PipelineParts, source: string): SourceRequest[] {
  return options.polled.filter((each) => requestLocation(each).name === source);
}

/** Whether the ledger has a stack as one that a poll of a configuration's source names. */
function isOf(stack: DiscoveredStack | undefined, poll: SourceRequest, configuration: Revision) {
  const { source, target } = discoveryOwner(configuration, poll);
  return stack?.owner.source === source && stack.owner.target === target;
}

/** Milliseconds that a question about another poll or branch waits for discoveries of that one. */
export const ASKED_MS = 10_000;

/** The stacks that a source names now, and what of it cannot be read now. */
async function namedBy(
  parts: PipelineParts,
  asked: RequestOfRound,
  signal: AbortSignal,
): Promise<{
  readonly named?: readonly string[];
  readonly wanted?: readonly StackKey[];
  readonly unknown?: "discoveries" | "all";
}> {
  try {
    const run = { ...asked, trigger: "poll", origin: "automatic", patience: ASKED_MS } as const;
    const { expansion } = await readSource(parts, run, { describe: () => {} }, signal);
    const named = namedIn(expansion).map(formatStackKey);
    const { deployments, failures, left } = expansion;
    const wanted = [...wantedOf(deployments), ...failures.map(({ key }) => key)];
    return { named, wanted, ...left.length > 0 && { unknown: "discoveries" } };
  } catch (error) {
    signal.throwIfAborted();
    if (!isStackwrightError(error)) throw error;
    const isNone = isStackwrightError(error, "config_not_found", "reference_not_found");
    return isNone ? {} : { unknown: "all" };
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
  { request, configuration, neighbours, trigger, origin, secretSession }: Omit<
    OpenedSource,
    "expansion"
  >,
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
    neighbours,
    trigger,
    origin,
    progress,
    ...(secretSession === undefined ? {} : { secretSession }),
  };
}

/** The refusal of a deployment that ignores the webhook behind the run; else `undefined`. */
export async function refusalOf(
  parts: PipelineParts,
  opened: OpenedSource,
  { declared }: ExpandedDeployment,
  signal: AbortSignal,
) {
  if (opened.trigger !== "webhook") return undefined;
  const { passes } = opened;
  const { request, configuration: revision } = pushedTo(opened);
  const branch = await opened.otherBranch(keyOf({ declared }));
  const plan = branch === undefined
    ? await webhookRefusal({ request, declared, revision, passes }, (reference) => {
      const resolve = (within: PipelineParts) => resolveOther(within, request, reference, signal);
      return preparing(parts, { repository: revision.source.name }, resolve, signal);
    })
    : ofOtherBranch(branch, revision.reference);
  return plan && { kind: "skip" as const, plan, changes: [] };
}
