import {
  clip,
  formatOwner,
  formatStackArguments,
  formatStackKey,
  formerOwner,
  isStackwrightError,
  type ObservedStack,
  type Release,
  type RunTarget,
  type SourceFailure,
  type SourcePlace,
  type StackKey,
  wholeSeconds,
} from "../model/mod.ts";
import { judgeStack, type StackJudgement } from "../plan/mod.ts";
import {
  type DecisionSummary,
  type Ledger,
  othersRelease,
  placeOfRelease,
  recordedOwner,
  type RecordedRelease,
  REFUSED_MS,
  type RunStore,
  TOOK_PLACE,
} from "../record/mod.ts";
import { createPauses } from "../system/mod.ts";
import {
  type Change,
  heldBack,
  isOver,
  keyOf,
  lookedFor,
  recordedOf,
  type StackScope,
  standingDecision,
} from "./recorded_facts.ts";
import { type StackJob, stackJobs } from "./stack_jobs.ts";
import { type LookParts, seenOf, whatIsSeen, whatRuns } from "./what_runs.ts";
import { type NothingNext, withNext } from "./with_next.ts";

/** The status of a stack: its state, the reason, and what these follow from. */
export interface StackStatus extends StackJudgement {
  readonly key: StackKey;
  /** The deployed release, if any. */
  readonly current: RecordedRelease | undefined;
  /** The last decision about the stack, if any. */
  readonly decision: DecisionSummary | undefined;
  /** Time of the next automatic attempt. */
  readonly retryAt: Date | undefined;
  /** The failure of the source it was deployed from, which cannot be read. */
  readonly sourceFailure: SourceFailure | undefined;
  /** Number of the newest release, where it failed and the current one was put back. */
  readonly rolledBack: number | undefined;
  /** Its scheduled jobs; in a list only those whose last run failed. */
  readonly jobs: readonly StackJob[];
}

/** Parts that statuses are made from. */
export interface StatusParts extends Omit<LookParts, "limitMs"> {
  readonly runs: Pick<RunStore, "list">;
  /** The next time of a schedule; none where the service runs no jobs. */
  readonly nextRun?: (schedule: string) => Date | undefined;
  /** Why nothing happens to a stack by itself, as far as the settings tell; by default something does. */
  readonly nothingNext?: (key: StackKey, place: SourcePlace) => NothingNext | undefined;
  /** Milliseconds to wait for engines; later answers count as unknown. */
  readonly limitMs?: number;
  /** The data directory that the ledger is in. */
  readonly dataDir: string;
}

/** Newest runs to search for work under way and for retries. */
const MOST_RUNS = 200;
/** Most characters of the reason, and entries of drift, of a stack in a list. */
const LISTED_WHY = 2000;
const LISTED_DRIFT = 20;
/** Containers to judge before the event loop gets a turn; each stack adds `A_STACK`. */
const [AT_ONCE, A_STACK] = [500, 50] as const;
/** Default milliseconds to wait for engines. */
const ENGINE_LIMIT_MS = 5_000;

/**
 * The status of every stack that has a release or a recent decision, sorted by context and name; or
 * of those in a scope. No engine of another context is asked; one that does not answer leaves
 * states that depend on it `unknown`.
 */
export async function stackStatuses(
  { engineOf, ledger, runs, clock, nextRun, nothingNext, limitMs = ENGINE_LIMIT_MS, dataDir }:
    StatusParts,
  signal: AbortSignal,
  scope?: StackScope,
): Promise<StackStatus[]> {
  const { current, currents, decisions, goesOn, names, failed } = recordedOf(ledger, scope, clock);
  const only = scope?.name;
  const [entries, refused] = lastEntries(runs, ledger, only);
  const contexts = new Set([...names].map((name) => keyOf(name).context));
  const observed = await whatRuns(
    { engineOf, ledger, clock, limitMs },
    { contexts, current, only },
    signal,
  );
  const jobs = await stackJobs(observed, { runs, nextRun }, only);
  const now = clock.now().getTime();
  const statusOf = (name: string): StackStatus[] => {
    const current = currents.get(name);
    const decision = decisions.get(name)?.decision;
    const key = current?.key ?? decisions.get(name)?.key ?? keyOf(name);
    if (current === undefined && !goesOn.has(name) && isOver(decision, now)) return [];
    const entry = entries.get(name);
    const there = observed.get(key.context);
    const seen = seenOf(there, current);
    const facts = {
      current: current && { ...current, services: servicesOf(ledger, current) },
      decision: standingDecision(ledger, key, decision),
      failure: ledger.failures.get(key),
      isPinned: ledger.pins.has(key),
      ...heldBack(ledger, key),
      ...underWay(entry, goesOn.get(name)),
      ...whatIsSeen(there, seen, key),
      ...lookedFor(ledger, key, clock.now()),
    };
    const alone = withoutStopped(judgeStack(facts), facts, seen?.stopped.get(key.name));
    const known = withOthers(ledger, alone, { ...facts, key, dataDir });
    const judged = withRefused(withLook(known, entry, now), refused.get(name), now);
    const retryAt = isFinal(judged) ? undefined : nextTry(entry, decision, now);
    const place = current && placeOfRelease(ledger, current);
    const rolledBack = alone.state === "failed"
      ? rolledBackFrom(ledger, current, alone.why)
      : undefined;
    const its = { jobs: jobs.get(name) ?? [], rolledBack, sourceFailure: place && failed(place) };
    const status = { key, current, decision, retryAt, ...its, ...judged };
    if (there === "no context") return [withoutContext(status)];
    // What was interrupted is taken up.
    const isOpen = facts.interrupted !== undefined || place === undefined;
    return [withNext(ledger, status, isOpen ? undefined : nothingNext?.(key, place))];
  };
  const statuses: StackStatus[] = [];
  const pauses = createPauses(AT_ONCE);
  for (const name of [...names].sort()) {
    const [status] = statusOf(name);
    if (status !== undefined) statuses.push(only === undefined ? inList(status) : status);
    await pauses.after(A_STACK + (status?.wanted ?? 0));
    signal.throwIfAborted();
  }
  return statuses;
}

function withoutContext(status: StackStatus): StackStatus {
  const why = `there is no context ${status.key.context} any more: make it again, or have the ` +
    `stack forgotten with stackwright forget ${formatStackArguments(status.key)}`;
  return { ...status, why };
}

/** A status cut for lists; asked for by itself it is whole. */
function inList({ why, drift, ...status }: StackStatus): StackStatus {
  const short = clip(why, LISTED_WHY);
  return { ...status, why: short, drift: drift.slice(0, LISTED_DRIFT) };
}

/** The services of a release; empty when it was forgotten after it was listed. */
function servicesOf(ledger: Ledger, release: RecordedRelease): Release["services"] {
  try {
    return ledger.services(release);
  } catch (error) {
    if (isStackwrightError(error, "not_found")) return [];
    throw error;
  }
}

/**
 * The number of the release after the current one that was taken back, if that is the last that ended and its
 * failure the one that is told: a pull or a removal may have failed since, which put nothing back. The next
 * release may have begun while the engine was asked what runs.
 */
function rolledBackFrom(
  { history }: Pick<Ledger, "history">,
  current: RecordedRelease | undefined,
  told: string,
): number | undefined {
  const last = current === undefined ? [] : history(current.key, 2);
  const newest = last.find(({ status }) => status !== "applying");
  // Both texts have sequels of their own, and may be cut.
  const [failure = ""] = told.split("; ", 1);
  const isTold = newest?.status === "rolled_back" && newest.message.includes(failure);
  return isTold ? newest.number : undefined;
}

/** The beginning of what is said of a stack whose release is a former owner's. */
export const HANDED_OVER = "it was handed over to";

/** Judges a stack under way, not drifted, while a job stopped services: `stopped` tells of that job. */
function withoutStopped(
  judged: StackJudgement,
  facts: Parameters<typeof judgeStack>[0],
  stopped: string | undefined,
): StackJudgement {
  if (stopped === undefined || judged.state !== "drifted") return judged;
  return judgeStack({ ...facts, underWay: stopped });
}

/** Adds to why a stack is as it is that another owner has it by now, or that another Stackwright deploys it, too. */
function withOthers(
  ledger: Ledger,
  judged: StackJudgement,
  { current, observed, ...of }: Pick<StackStatus, "key" | "current"> & {
    readonly observed: ObservedStack | undefined;
    readonly dataDir: string;
  },
): StackJudgement {
  if (current === undefined || observed === undefined) return judged;
  const { state, why } = judged;
  const owner = recordedOwner(ledger, of.key);
  if (state === "synced" && owner?.adopted && formerOwner(current, owner) !== undefined) {
    return {
      ...judged,
      why: `${why}; ${HANDED_OVER} ${formatOwner(owner)}, which has not deployed it yet`,
    };
  }
  if (state === "synced" && current.message.endsWith(TOOK_PLACE)) {
    return { ...judged, why: `${why}; ${TOOK_PLACE}` };
  }
  const others = state === "drifted" ? othersRelease(ledger, { observed, ...of }) : undefined;
  return others === undefined ? judged : { ...judged, why: `${why}; ${others}` };
}

/** Whether a stack is not tried again by itself: a held one, whatever failed before, one that is tried, and a good one. */
function isFinal({ state }: StackJudgement): boolean {
  return ["held", "deploying", "synced"].includes(state);
}

/** Time of the next automatic try, also of a failed repair. The end of a hold is none: that may be over. */
function nextTry(
  entry: RunTarget | undefined,
  decision: DecisionSummary | undefined,
  now: number,
): Date | undefined {
  const waits = entry?.reason?.startsWith("paused:") ? undefined : entry?.retryAt;
  const at = [waits, new Date(decision?.outcome?.retryAt ?? 0)];
  return at.find((each) => each !== undefined && each.getTime() > now);
}

/**
 * The newest entry of each stack, or of those with `only` this name, in the kept runs; leaves out entries of runs of
 * another source than the stack's owner. And the newest refusal of each to another poll.
 */
function lastEntries(
  runs: Pick<RunStore, "list">,
  { owners }: Pick<Ledger, "owners">,
  only: string | undefined,
): readonly [own: ReadonlyMap<string, Entry>, refused: ReadonlyMap<string, Refusal>] {
  const [entries, refused] = [new Map<string, Entry>(), new Map<string, Refusal>()];
  const sources = new Map<string, string | undefined>();
  for (
    const { repository, targets, createdAt: since, updatedAt: at } of runs.list({
      limit: MOST_RUNS,
    })
  ) {
    for (const entry of targets) {
      if (only !== undefined && entry.stack !== only) continue;
      const key = { context: entry.context, name: entry.stack };
      const name = formatStackKey(key);
      const { isOthers = false, message = "" } = entry;
      if (isOthers && !refused.has(name)) refused.set(name, { at, message });
      if (isOthers || entries.has(name)) continue;
      if (!sources.has(name)) sources.set(name, owners.get(key)?.source);
      const owner = sources.get(name) ?? repository;
      if (repository === owner || repository === "multiple") entries.set(name, { ...entry, since });
    }
  }
  return [entries, refused];
}

/** The entry of a stack in a run, and when that began. */
interface Entry extends RunTarget {
  readonly since: Date;
}

/** A refusal of a stack to another poll than that which deploys it. */
interface Refusal {
  readonly at: Date;
  readonly message: string;
}

/** Adds that another poll names the stack as well, which no decision about the stack says. */
function withRefused(
  judged: StackJudgement,
  refused: Refusal | undefined,
  now: number,
): StackJudgement {
  if (refused === undefined || refused.at.getTime() < now - REFUSED_MS) return judged;
  const at = wholeSeconds(refused.at);
  return {
    ...judged,
    why: `${judged.why}; another poll was refused it at ${at}: ${refused.message}`,
  };
}

/** Milliseconds after which a look at a stack is told of: it may wait for what its source's author decides. */
const LONG_LOOK_MS = 60_000;

/** Adds that a look takes long, and its step. */
function withLook(judged: StackJudgement, entry: Entry | undefined, now: number): StackJudgement {
  if (entry?.status !== "pending" || now - entry.since.getTime() < LONG_LOOK_MS) return judged;
  const step = entry.message || "looking at its source";
  return {
    ...judged,
    why: `${judged.why}; a run since ${wholeSeconds(entry.since)} has not decided yet: ${step}`,
  };
}

/** The work on a stack. A look does not count, as it ends soon and mostly changes nothing. */
function underWay(entry: RunTarget | undefined, change: Change = {}): Change {
  return entry?.status === "running"
    ? { underWay: entry.message || "a deployment is under way" }
    : change;
}
