import {
  formatStackKey,
  requestKey,
  type Revision,
  type RunReporter,
  type StackKey,
  type Sync,
  type TargetListener,
} from "../../model/mod.ts";
import { abortable, atEnd, OVERTAKEN } from "../../system/mod.ts";
import { type ExpandedDeployment, type FailedExpansion, keyOf } from "../expand_deployments.ts";
import { keepDeferred, lookedAt, noteUnnamed } from "../destroy/plan_obsolete.ts";
import { type OpenedSource, openSource, type SourceRun } from "../open_source.ts";
import type { PipelineParts } from "../parts.ts";
import { type Removed, removeObsolete } from "../remove_obsolete.ts";
import { createTeller } from "../../tell/mod.ts";
import { learnedOfAll } from "../waits.ts";
import { lookingText, type Reached } from "./look_into.ts";
import { meant } from "./meant.ts";

/** A source whose targets are deployed, and who is told. */
export interface TargetsOfSource {
  readonly opened: OpenedSource;
  readonly listeners: readonly TargetListener[];
  readonly removed?: Removed | undefined;
}

/** Receivers of a run: its reporter, and listeners for its targets (its record is the last); and what deploys these. */
export interface Audience {
  readonly reporter: Pick<RunReporter, "describe" | "givesWay" | "takesOver">;
  readonly listeners: readonly TargetListener[];
  readonly deploy: (
    targets: TargetsOfSource,
    deployments: readonly ExpandedDeployment[],
  ) => Promise<void>;
}

/** A source of a run, and the stacks of it that other branches' files have (`led`). */
export type RunOfSource = SourceRun & { readonly work: Sync; readonly led?: readonly StackKey[] };

/** Milliseconds that a run keeps the next one of its kind, and discoveries its other stacks, waiting. */
const LONG_MS = 60_000;
/** Looks of one run after which it follows no newer commits any more: who pushes without end keeps it no longer. */
const MOST_LOOKS = 3;

/**
 * Opens a source and deploys what it names; what discoveries find that take long is deployed when they are reached,
 * from the commit that is the newest then. A source that is away fails the run at its end.
 */
export async function deployNamed(
  parts: PipelineParts,
  run: RunOfSource,
  audience: Audience,
  signal: AbortSignal,
): Promise<void> {
  const looks = new AbortController();
  using _ = atEnd(() => looks.abort("over"));
  const look = AbortSignal.any([signal, looks.signal]);
  let [next, told]: [RunOfSource | undefined, Audience] = [run, audience];
  const done = new Set<string>();
  for (let looksLeft = MOST_LOOKS; next !== undefined; looksLeft--) {
    const seen: Seen = new Map();
    const work = { ...next, look, looksLeft, done };
    next = await deployReached(parts, work, { ...told, seen }, signal);
    told = { ...audience, listeners: audience.listeners.map((each) => newsAfter(seen, each)) };
  }
}

/** Deploys what a source names as far as that is reached in time; returns the run that is left to do, if any. */
async function deployReached(
  parts: PipelineParts,
  { look, looksLeft, done, ...run }: RunOfSource & {
    readonly look: AbortSignal;
    readonly looksLeft: number;
    /** Keys of the stacks that were decided about in earlier looks, for good. */
    readonly done: Set<string>;
  },
  { reporter, listeners, deploy: deployTargets, seen }: Audience & { readonly seen: Seen },
  signal: AbortSignal,
): Promise<RunOfSource | undefined> {
  const { work: { only }, led = [], ...asked } = run;
  const holder = parts.stackLock.holder(discoveriesOf(run));
  const waitedFor: readonly string[] = holder === undefined ? [] : JSON.parse(holder);
  const waiting = { ...asked, patience: LONG_MS, waitedFor };
  const opened = await openSource(parts, waiting, reporter, look);
  const { expansion: { left, late }, away } = opened;
  const { deployments, failures } = meant(opened, only, led);
  await learnedOfAll(parts, failures.map(({ key }) => key), signal);
  for (const failure of failures) reportFailure(listeners, opened, failure);
  reporter.describe({ message: "" });
  const isFound = only !== undefined && deployments.length + failures.length > 0;
  if (late !== undefined) {
    const text = `${lookingText(left)}, for long: the other stacks are deployed meanwhile`;
    const isTold = left.every((each) => waitedFor.includes(each));
    if (!isTold) parts.log.warning(text, { repository: opened.configuration.source.name });
    reporter.givesWay?.();
  }
  const reaching = late === undefined || isFound ? undefined : inLine(parts, opened, late, signal);
  if (only && away === undefined) await noteUnnamed(parts, opened);
  const leftTo: Revision[] = [];
  const hearing = [...listeners, leftListener(leftTo, done)];
  // What a person asked for was done by then: recreated, or tried, which does not work the next moment either.
  const isDone = new Set(run.origin === "manual" ? done : []);
  const due = deployments.filter((each) => !isDone.has(formatStackKey(keyOf(each))));
  const deploy = (more?: TargetListener, removed?: Removed) => {
    const all = more === undefined ? hearing : [...hearing, more];
    return deployTargets({ opened, removed, listeners: all }, due);
  };
  await givingWay(parts, reporter, async () => {
    const mayRemove = away === undefined && !isFound && !(only && late);
    if (!mayRemove) return await deploy();
    const removals = await removeObsolete(parts, { ...opened, only, deploy }, hearing, signal);
    const named = [...deployments.map(keyOf), ...removals, ...led];
    if (!only) keepDeferred(parts, opened, named);
  });
  let reached: Reached | undefined;
  if (reaching !== undefined) {
    reporter.describe({ message: lookingText(left) });
    reached = await reaching;
    reporter.describe({ message: "" });
  }
  if (away !== undefined && reached === undefined) throw away;
  for (const each of deployments) seen.set(formatStackKey(keyOf(each)), "told");
  for (const { key } of failures) seen.set(formatStackKey(key), "failed");
  const isLate = looksLeft > 1 && isOvertaken(parts, opened, leftTo);
  return reached !== undefined || isLate ? lookAgain(run, reached) : undefined;
}

/** Whether what was left is left to newer commits: whoever found these may have only asked, be held back, or be gone. */
function isOvertaken(
  { newest }: Pick<PipelineParts, "newest">,
  opened: OpenedSource,
  left: readonly Revision[],
): boolean {
  return left.length > 0 && newest.overtaken([...left, ...lookedAt(opened)]).length > 0;
}

/** A run's next look, without the round, whose answer may be minutes old, and what an earlier one has reached. */
function lookAgain(
  { round: _, reached: _early, ...run }: RunOfSource,
  reached: Reached | undefined,
): RunOfSource {
  return { ...run, ...(reached && { reached }) };
}

/**
 * A listener that adds the revisions of what is left to newer ones once its turn has come, and the keys of all that is
 * `done`; what was overtaken in its line, the later run there does.
 */
export function leftListener(left: Revision[], done: Set<string>): TargetListener {
  return ({ key }) => {
    let isBegun = false;
    return (news) => {
      if (news.kind === "decided") {
        const { kind, reason } = news.decision;
        const isLeft = isBegun && kind === "skip" && reason === "superseded";
        if (isLeft) left.push(news.revision);
        done[isLeft ? "delete" : "add"](formatStackKey(key));
      }
      isBegun ||= news.kind === "admitted" || news.kind === "decided";
    };
  };
}

/** Stacks that a look of a run has come to, by key, and which could not be read. */
type Seen = Map<string, "told" | "failed">;

/**
 * A listener to a run's second look at stacks that it has `seen`: of these it is told what is done to them, or fails,
 * but not that nothing is to do any more, or later, nor that they cannot be read still, since it was told the end of
 * the first look.
 */
export function newsAfter(
  seen: ReadonlyMap<string, "told" | "failed">,
  listener: TargetListener,
): TargetListener {
  return (target) => {
    const hear = listener(target);
    const end = seen.get(formatStackKey(target.key));
    if (end === undefined) return hear;
    let isSaid: boolean | undefined;
    return (news) => {
      if (news.kind === "decided") isSaid ??= news.decision.kind !== "skip";
      if (news.kind === "ended" && news.end.status === "failed") isSaid ??= end !== "failed";
      if (isSaid) hear(news);
    };
  };
}

/** Waits for discoveries of a configuration; `undefined` where a later run does that, and looks at what they have. */
function inLine(
  { stackLock }: Pick<PipelineParts, "stackLock">,
  opened: OpenedSource,
  late: Promise<Reached>,
  signal: AbortSignal,
): Promise<Reached | undefined> {
  const wait = () => abortable(late, signal);
  const as = { who: JSON.stringify(opened.expansion.left), line: opened.line };
  const reached = stackLock.inTurn(discoveriesOf(opened), wait, signal, as)
    .catch((thrown) => {
      if (thrown !== OVERTAKEN) throw thrown;
      return undefined;
    });
  // It is asked when the other stacks have had their turn.
  reached.catch(() => {});
  return reached;
}

/** The key under which runs of a configuration wait for discoveries: no stack has it. */
function discoveriesOf({ request }: Pick<SourceRun, "request">): string {
  return `discoveries of ${requestKey(request)}`;
}

/** Does work of a run; where that takes long, the next run of its kind does not wait for it. */
export async function givingWay<T>(
  { clock }: Pick<PipelineParts, "clock">,
  reporter: Audience["reporter"],
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  clock.sleep(LONG_MS, over.signal).then(() => reporter.givesWay?.(), () => {});
  using _ = atEnd(() => over.abort("over"));
  return await work();
}

/** Tells the listeners of a deployment that could not be read, as a failed target. */
function reportFailure(
  listeners: readonly TargetListener[],
  { trigger, origin, configuration }: OpenedSource,
  { key, revision, error }: FailedExpansion,
): void {
  const target = { key, repository: revision.source.name, trigger, origin, configuration };
  const { message } = error;
  createTeller(listeners, target, revision)
    .tell({ kind: "ended", end: { status: "failed", message, error } });
}
