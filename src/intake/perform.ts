import {
  errors,
  fewOf,
  isOfStacks,
  messageOf,
  type Origin,
  type Run,
  type RunEnd,
  type RunReporter,
  type RunTarget,
  sourcesOf,
  StackwrightError,
  type Trigger,
  type Work,
  type WorkOf,
} from "../model/mod.ts";
import {
  atEnd,
  isRoutine,
  type Log,
  once,
  redactTexts,
  sourceAsOwner,
  stackAsOwner,
  stackFields,
} from "../system/mod.ts";
import { type EndParts, endRun, sourceOf } from "./end_run.ts";
import type { PollFailures } from "./poll_failures.ts";

/**
 * Performs work of one kind and reports to `reporter`. Ends normally when every target was reported
 * in a final state, failed ones included. Throws what prevented that: one error, or an
 * `AggregateError` with one error for each failed source of several. Work without targets returns
 * the end of its run.
 */
type Perform<Kind extends Work["kind"]> = (
  work: WorkOf<Kind>,
  reporter: RunReporter,
  signal: AbortSignal,
) => Promise<RunEnd | void>;

/** Makes engines equal to what sources say. */
export type Execute = Perform<"sync">;

/** Performers by kind of work. Work of a kind without one fails its run. */
export type Performers = { readonly [Kind in Work["kind"]]?: Perform<Kind> };

/** Concludes a run from its targets. `failures` has one text for each thrown error. */
export type Conclude = (
  targets: readonly RunTarget[],
  facts: {
    readonly trigger: Trigger;
    readonly origin: Origin;
    readonly sources: number;
    readonly isOfStacks: boolean;
    readonly failures: readonly string[];
  },
) => RunEnd;

/** Ports for performing work. */
export interface PerformParts extends EndParts {
  readonly performers: Performers;
  readonly conclude: Conclude;
  readonly pollFailures: PollFailures;
}

interface OpenedWork {
  readonly id: string;
  readonly work: Work;
  /** Called when the next run of its kind need not wait for it any more. */
  readonly givesWay?: () => void;
  /** Called when it does what another run was to do as well. */
  readonly takesOver?: () => void;
}

/** Performs the work of a run, which fails with the reason if `signal` aborts. Never rejects. */
export async function perform(
  opened: OpenedWork,
  parts: PerformParts,
  signal: AbortSignal,
): Promise<Run> {
  const { work } = opened;
  // A job may run for ever.
  const isOver = parts.redactor.during(...work.kind === "job" ? stackOf(work) : []);
  using _ = atEnd(isOver);
  return await performWork(opened, parts, signal);
}

async function performWork(
  opened: OpenedWork,
  parts: PerformParts,
  signal: AbortSignal,
): Promise<Run> {
  const { id, work } = opened;
  const log = parts.log.with({ job_id: id, trigger: work.trigger, ...placeOf(work) });
  const own = { ...parts, log };
  const { failures, end: told } = await execute(opened, own, signal);
  const ended = told ?? conclude({ id, work }, failures, own);
  // What ended the work may quote containers of its stack, and was told of no target then.
  const end = { ...ended, message: parts.redactor.redact(ended.message, ...stackOf(work)) };
  const isFailed = end.status === "failed";
  // No listener hears of the target of a job.
  const isTold = work.kind !== "job" && isFailed && failures.length === 0 && !signal.aborted &&
    targetsFailed(own.runs.get(id));
  // Work that was cut off tells nothing of its source.
  const failure = signal.aborted
    ? undefined
    : parts.pollFailures.note(work, isFailed && !isTold ? end.message : undefined);
  return endRun(id, { ...(isFailed ? named(end, signal) : end), isTold, failure }, own);
}

/** The only stack of a run, whose engine decides how often there is one. */
function placeOf(work: Work): { readonly stack?: string; readonly context?: string } {
  return work.kind === "job" ? { stack: work.key.name, context: work.key.context } : {};
}

/** The only stack that work is about, as an owner of secrets. */
function stackOf(work: Work): string[] {
  const key = work.kind === "sync" ? work.only : "key" in work ? work.key : undefined;
  return key === undefined ? [] : [stackAsOwner(key)];
}

function targetsFailed(run: Run | undefined): boolean {
  const failed = run?.targets.filter(({ status }) =>
    status !== "succeeded" && status !== "skipped"
  );
  return failed?.length !== 0 && failed?.every(({ status }) => status === "failed") === true;
}

/** Runs the work; returns its failures, or the end that it returned. */
async function execute(
  { id, work, givesWay, takesOver }: OpenedWork,
  { runs, redactor, log, performers }: PerformParts,
  signal: AbortSignal,
): Promise<{ readonly failures: string[]; readonly end?: RunEnd }> {
  try {
    signal.throwIfAborted();
    runs.start(id);
    // What the run says is kept.
    await redactor.learned(stackOf(work), signal);
    const told = reporterOf(id, { runs, redactor });
    const way = once(() => {
      tellWay(runs.get(id), log);
      givesWay?.();
    });
    const reporter = { ...told, givesWay: way, ...(takesOver && { takesOver }) };
    const end = await performerOf(performers, work)(reporter, signal);
    return { failures: [], ...(end === undefined ? {} : { end }) };
  } catch (error) {
    const errors = error instanceof AggregateError ? error.errors : [error];
    // Secrets of the source are redacted only in log lines that name the source.
    const [stack] = stackOf(work);
    const toldOf = (error: unknown) => {
      const source = error instanceof StackwrightError ? error.source : undefined;
      const repository = source ?? runs.get(id)?.repository;
      const about = log.with({ repository, ...stackFields(stack) });
      const sources = repository === undefined ? [] : [sourceAsOwner(repository)];
      return redactor.redact(failureText(error, work.trigger, about), ...sources);
    };
    return { failures: errors.map(toldOf) };
  }
}

/** Names of stacks in a line of the log. */
const MOST_TOLD = 3;

/** Logs what keeps a run so long that the next one does not wait for it. */
function tellWay(run: Run | undefined, log: Log): void {
  const busy = (run?.targets ?? []).filter(({ status }) =>
    status === "pending" || status === "running"
  );
  if (busy.length === 0) return;
  const stacks = fewOf(busy.map(({ stack }) => stack), MOST_TOLD);
  log.info(`at work for more than a minute on ${stacks}: the next run does not wait for it`);
}

/** The reporter of a run; redacts secrets of the stack and the source in what it is told. */
function reporterOf(id: string, { runs, redactor }: Pick<PerformParts, "runs" | "redactor">) {
  const redact = (...about: readonly string[]) => (text: string) => redactor.redact(text, ...about);
  const reporter: RunReporter = {
    describe(facts) {
      const about = sourceOf({ ...runs.get(id), ...facts });
      runs.describe(id, redactTexts(facts, redact(...about)));
    },
    target(entry, sources = []) {
      const { context, stack: name } = entry;
      const own = [stackAsOwner({ context, name }), ...sourceOf(runs.get(id))];
      const about = [...own, ...sources.map(sourceAsOwner)];
      const known = (text: string) => redactor.redactKnown(text, ...about);
      runs.target(id, redactTexts(entry, isRoutine(entry.message) ? known : redact(...about)));
    },
  };
  return reporter;
}

function performerOf<Kind extends Work["kind"]>(
  performers: Performers,
  work: WorkOf<Kind> & { readonly kind: Kind },
): (reporter: RunReporter, signal: AbortSignal) => Promise<RunEnd | void> {
  const perform: Perform<Kind> | undefined = performers[work.kind];
  if (perform !== undefined) return (reporter, signal) => perform(work, reporter, signal);
  throw errors.unsupported(`this version of Stackwright does no work of the kind ${work.kind}`);
}

function conclude(
  { id, work }: OpenedWork,
  failures: readonly string[],
  parts: PerformParts,
): RunEnd {
  const { trigger, origin } = work;
  const targets = parts.runs.get(id)?.targets ?? [];
  const sources = sourcesOf(work).length;
  try {
    const facts = { trigger, origin, sources, isOfStacks: isOfStacks(work), failures };
    return parts.conclude(targets, facts);
  } catch (error) {
    return { status: "failed", message: failureText(error, trigger, parts.log) };
  }
}

/** A cancelled run says why it was cancelled, whatever its work made of that. */
function named(end: RunEnd, signal: AbortSignal): RunEnd {
  return signal.aborted ? { ...end, message: messageOf(signal.reason) } : end;
}

/** The text of a failure. Unexpected errors are logged in full and shown as a fixed text. */
function failureText(error: unknown, trigger: Trigger, log: Log): string {
  if (error instanceof StackwrightError && error.code !== "internal") {
    log.debug("work ended with an error", { error });
    return error.message;
  }
  const trace = error instanceof Error ? error.stack : undefined;
  log.error("BUG: the work behind a run crashed", { error, trace });
  return `${trigger.replaceAll("_", " ")} run crashed; the log has the details`;
}
