import { createLanes, type Lanes, type Place } from "./intake/lanes.ts";
import {
  isTerminal,
  messageOf,
  type Origin,
  type Run,
  type RunReporter,
  type RunTarget,
  StackwrightError,
  type Trigger,
  type Work,
} from "./model/mod.ts";
import type { RunEnd, RunFacts, RunStore } from "./record/mod.ts";
import { type Clock, type Ids, type Log, type Redactor, redactTexts } from "./system/mod.ts";

/** Message of a run that the end of the process cut short. */
export const CANCELLED_BY_SHUTDOWN = "cancelled by shutdown";
/** Message of a run whose waiting client went away. */
export const CANCELLED_BY_CLIENT = "cancelled: the client that waited for it disconnected";
/** How long active runs may go on after a shutdown began, in milliseconds (interface.md §8). */
export const SHUTDOWN_GRACE_MS = 10_000;

/** How long aborted work may take to put things down before shutdown goes on without it. */
const SETTLE_MS = 2_000;

/**
 * Does a piece of work, telling `reporter` what becomes of it. It ends normally when every target
 * was reported in a final state, failed ones included. It throws what kept it from that: one error,
 * or, for work of several sources, an `AggregateError` of one error for each failed source.
 */
export type Execute = (work: Work, reporter: RunReporter, signal: AbortSignal) => Promise<void>;

/** Decides what a run amounts to. `failures` has one text for each error that was thrown. */
export type Conclude = (
  targets: readonly RunTarget[],
  facts: {
    readonly trigger: Trigger;
    readonly origin: Origin;
    readonly sources: number;
    readonly failures: readonly string[];
  },
) => RunEnd;

/** Work that was let in. */
export interface Admission {
  /** The run as it was opened. */
  readonly run: Run;
  /** The finished run; never rejects. */
  readonly finished: Promise<Run>;
}

/** How work is let in. */
export interface SubmitOptions {
  /** Its abort cancels the work: the client that waits for it is gone. */
  readonly signal?: AbortSignal;
  /** Name of the repository, where it is known before the source was looked at. */
  readonly repository?: string;
  /**
   * Work under the same key does the same. One piece of it runs and at most one waits, which looks at
   * the source after all that was asked for before; whoever comes while one waits gets its run.
   */
  readonly lane?: string;
  /**
   * Milliseconds until the work begins: whoever asks for the same in the meantime shares the run, and
   * a storm of requests is answered before the programs it starts take the processors.
   */
  readonly settleMs?: number;
}

/** The one gate through which work enters. */
export interface Intake {
  /**
   * Opens a run and starts the work behind it, or joins the run that waits in the work's lane; of
   * the work in a lane the newest counts. Without a `signal` only shutdown cancels it; that of a
   * caller who joins is not listened to.
   *
   * Throws `shutting_down` once closing has begun; no run is opened then.
   */
  submit(work: Work, options?: SubmitOptions): Admission;
  /**
   * Opens a run that is over at once, skipped: what a trigger asked for is nothing to do. Throws
   * `shutting_down`.
   */
  skip(facts: RunFacts & { readonly trigger: Trigger; readonly message: string }): Run;
  /** Whether work is still let in. */
  readonly open: boolean;
  /**
   * Shuts down gracefully: lets nothing more in, waits for active runs for the grace period, then
   * aborts them and marks them failed. May be called twice; both calls end together.
   */
  close(): Promise<void>;
}

/** What the intake is made from. */
export interface IntakeParts {
  readonly runs: RunStore;
  readonly execute: Execute;
  readonly conclude: Conclude;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly redactor: Redactor;
  readonly log: Log;
  /** Told of every run that ended, with the work behind it. */
  readonly onEnd?: (run: Run, work: Work) => void;
  /** Milliseconds; {@link SHUTDOWN_GRACE_MS} by default. */
  readonly graceMs?: number;
}

/** Makes the gate, open. */
export function createIntake(parts: IntakeParts): Intake {
  return new Gate(parts);
}

interface ActiveRun {
  readonly controller: AbortController;
  readonly finished: Promise<Run>;
}

/** Work that may still be replaced by newer work, until its turn has come. */
interface Waiting {
  readonly id: string;
  work: Work;
  finished: Promise<Run>;
}

class Gate implements Intake {
  readonly #parts: IntakeParts;
  readonly #active = new Map<string, ActiveRun>();
  readonly #lanes: Lanes<Waiting> = createLanes();
  #closing: Promise<void> | undefined;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  get open(): boolean {
    return this.#closing === undefined;
  }

  submit(work: Work, options: SubmitOptions = {}): Admission {
    this.#requireOpen();
    const waiting = options.lane === undefined ? undefined : this.#lanes.waiting(options.lane);
    const run = waiting === undefined ? undefined : this.#parts.runs.get(waiting.id);
    if (waiting === undefined || run === undefined) return this.#start(work, options);
    waiting.work = work;
    return { run, finished: waiting.finished };
  }

  skip({ trigger, message, ...facts }: Parameters<Intake["skip"]>[0]): Run {
    this.#requireOpen();
    const { runs, ids, redactor } = this.#parts;
    const redact = (text: string) => redactor.redact(text);
    const run = runs.accept({ id: ids.next(), trigger, ...redactTexts(facts, redact) });
    return runs.finish(run.id, { status: "skipped", message: redact(message) });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #requireOpen(): void {
    if (!this.open) throw new StackwrightError("shutting_down", "application is shutting down");
  }

  #start(work: Work, { signal, repository, lane, settleMs = 0 }: SubmitOptions): Admission {
    const { runs, ids, redactor } = this.#parts;
    const known = repository === undefined ? {} : { repository: redactor.redact(repository) };
    const facts = { ...openingFacts(work), ...known };
    const run = runs.accept({ id: ids.next(), trigger: work.trigger, ...facts });
    const controller = new AbortController();
    const item: Waiting = { id: run.id, work, finished: Promise.resolve(run) };
    const place = lane === undefined ? undefined : this.#lanes.enter(lane, item, settleMs > 0);
    const cancel = { controller, client: signal };
    item.finished = this.#inTurn(item, { place, settleMs }, cancel);
    this.#active.set(run.id, { controller, finished: item.finished });
    return { run, finished: item.finished };
  }

  async #inTurn(
    item: Waiting,
    { place, settleMs }: { readonly place: Place | undefined; readonly settleMs: number },
    cancel: { readonly controller: AbortController; readonly client: AbortSignal | undefined },
  ): Promise<Run> {
    try {
      const { signal } = cancel.controller;
      await place?.turn(signal);
      // Shutdown wakes it; performing it then ends at once.
      if (settleMs > 0) await this.#parts.clock.sleep(settleMs, signal).catch(() => {});
      place?.begin();
      return await this.#perform(item, cancel);
    } finally {
      place?.leave();
    }
  }

  async #perform(
    { id, work }: Waiting,
    { controller, client }: { controller: AbortController; client: AbortSignal | undefined },
  ): Promise<Run> {
    const leave = () => controller.abort(cancelled(CANCELLED_BY_CLIENT));
    client?.addEventListener("abort", leave, { once: true });
    if (client?.aborted === true) leave();
    const log = this.#parts.log.with({ job_id: id, trigger: work.trigger });
    // The caller gets the run as accepted before anything happens to it.
    await Promise.resolve();
    try {
      const failures = await this.#execute(id, work, controller.signal, log);
      const end = this.#conclude(id, work, failures, log);
      const closing = end.status === "failed" ? named(end, controller.signal) : end;
      const run = this.#finish(id, closing, log);
      this.#parts.onEnd?.(run, work);
      return run;
    } finally {
      client?.removeEventListener("abort", leave);
      this.#active.delete(id);
    }
  }

  /** Runs the work; returns why it, or some of its sources, failed. */
  async #execute(id: string, work: Work, signal: AbortSignal, log: Log): Promise<string[]> {
    const { runs, execute, redactor } = this.#parts;
    const redact = (text: string) => redactor.redact(text);
    const reporter: RunReporter = {
      describe: (facts) => void runs.describe(id, redactTexts(facts, redact)),
      target: (entry) => void runs.target(id, redactTexts(entry, redact)),
    };
    try {
      signal.throwIfAborted();
      runs.start(id);
      await execute(work, reporter, signal);
      return [];
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error];
      return errors.map((each) => failureText(each, work.trigger, log));
    }
  }

  #conclude(id: string, work: Work, failures: readonly string[], log: Log): RunEnd {
    const { trigger, origin, sources } = work;
    const targets = this.#parts.runs.get(id)?.targets ?? [];
    try {
      return this.#parts.conclude(targets, { trigger, origin, sources: sources.length, failures });
    } catch (error) {
      return { status: "failed", message: failureText(error, trigger, log) };
    }
  }

  /** Closes the run; of a failed one also the targets that were left open. */
  #finish(id: string, end: RunEnd, log: Log): Run {
    const { runs, redactor } = this.#parts;
    const before = runs.get(id);
    const message = redactor.redact(end.message);
    if (end.status === "failed") {
      for (const target of before?.targets ?? []) {
        if (target.status === "pending" || target.status === "running") {
          runs.target(id, { ...target, status: "failed", message });
        }
      }
    }
    const run = runs.finish(id, { status: end.status, message });
    if (before !== undefined && !isTerminal(before.status)) logEnd(run, log);
    return run;
  }

  async #close(): Promise<void> {
    const { clock, log, graceMs = SHUTDOWN_GRACE_MS } = this.#parts;
    if (this.#active.size === 0) return;
    log.info(`waiting for ${this.#active.size} active runs`, { grace_ms: graceMs });
    if (await this.#allFinished(graceMs, clock)) return;
    for (const [id, { controller }] of this.#active) {
      controller.abort(cancelled(CANCELLED_BY_SHUTDOWN));
      const end: RunEnd = { status: "failed", message: CANCELLED_BY_SHUTDOWN };
      this.#finish(id, end, log.with({ job_id: id }));
    }
    await this.#allFinished(SETTLE_MS, clock);
  }

  /** Whether every active run finished within `milliseconds`. */
  async #allFinished(milliseconds: number, clock: Clock): Promise<boolean> {
    const timer = new AbortController();
    const finished = Promise.all([...this.#active.values()].map((run) => run.finished));
    const late = clock.sleep(milliseconds, timer.signal).then(() => false, () => false);
    const inTime = await Promise.race([finished.then(() => true), late]);
    timer.abort();
    return inTime;
  }
}

/** What is known before any source was looked at. */
function openingFacts({ sources }: Work): { repository?: string; target?: string } {
  const [first] = sources;
  if (first === undefined) return {};
  return sources.length > 1 ? { repository: "multiple" } : { target: first.target };
}

/** A cancelled run says who cancelled it, whatever its work made of that. */
function named(end: RunEnd, signal: AbortSignal): RunEnd {
  return signal.aborted ? { ...end, message: messageOf(signal.reason) } : end;
}

/** A mistake of ours is logged in full and shown as a fixed text. */
function failureText(error: unknown, trigger: Trigger, log: Log): string {
  if (error instanceof StackwrightError && error.code !== "internal") {
    log.debug("work ended with an error", { error });
    return error.message;
  }
  const stack = error instanceof Error ? error.stack : undefined;
  log.error("BUG: the work behind a run crashed", { error, stack });
  return `${trigger.replaceAll("_", " ")} run crashed; the log has the details`;
}

function logEnd(run: Run, log: Log): void {
  const fields = { status: run.status, repository: run.repository, message: run.message };
  if (run.status === "failed") log.error("run failed", fields);
  else log.info(`run ${run.status}`, fields);
}

function cancelled(message: string): StackwrightError {
  return new StackwrightError("cancelled", message);
}
