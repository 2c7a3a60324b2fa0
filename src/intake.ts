/**
 * The gate for all work: accepts it, joins waiting work of one lane in one run, opens the run,
 * waits for its turn, has it performed and closes the run. It does not know what the work is about.
 */
import { ActiveRuns } from "./intake/active_runs.ts";
import {
  type Admission,
  type Intake,
  MOST_OF_REPOSITORY,
  type NothingToDo,
  type SubmitOptions,
} from "./intake/admission.ts";
import { cancelBeforeChange } from "./intake/cancel_before_change.ts";
import { endRun } from "./intake/end_run.ts";
import { createLanes, type Lanes, type LaneSlot } from "./intake/lanes.ts";
import { type Calm, createPace, type Pace } from "./intake/pace.ts";
import { perform, type PerformParts } from "./intake/perform.ts";
import { PollFailures } from "./intake/poll_failures.ts";
import { errors, isTerminal, requestError, type Run, sourcesOf, type Work } from "./model/mod.ts";
import {
  atEnd,
  type Clock,
  createPauses,
  type Ids,
  redactTexts,
  SILENT_LOG,
  sourceAsOwner,
} from "./system/mod.ts";

export type { Admission, Intake, SubmitOptions } from "./intake/admission.ts";
export type { Conclude, Execute, Performers } from "./intake/perform.ts";

/** Milliseconds for which active runs may go on after a shutdown began. */
const SHUTDOWN_GRACE_MS = 10_000;

/** Runs that a shutdown ends in one turn of the event loop. */
const CUT_AT_ONCE = 200;

/** Milliseconds that aborted work may take to end before shutdown goes on without it. */
const SETTLE_MS = 2_000;

/** Parts of the intake. */
export interface IntakeParts extends Omit<PerformParts, "pollFailures"> {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onEnd?: (run: Run, work: Work) => void;
  /** Milliseconds; {@link SHUTDOWN_GRACE_MS} by default. */
  readonly graceMs?: number;
  /** Milliseconds without a request that end a burst of them, see {@link Pace}; 0 for no bursts. */
  readonly quietMs?: number;
}

/** Makes the gate, which is open. */
export function createIntake(parts: IntakeParts): Intake {
  return new Gate(parts);
}

/** Work that newer work of its lane may replace until its turn comes. */
interface Waiting {
  readonly id: string;
  work: Work;
  /** Client whose disconnect cancels the work; absent once another request has joined the run. */
  client: AbortSignal | undefined;
  finished: Promise<Run>;
  /** Resolves when the next run of its lane need not wait any more. */
  readonly way: PromiseWithResolvers<void>;
}

/** When a piece of work may begin. */
interface Turn {
  readonly slot: LaneSlot | undefined;
  /** The burst of requests that it came in, whose end it waits for. */
  readonly waits: Calm | undefined;
}

class Gate implements Intake {
  readonly #parts: IntakeParts & PerformParts;
  readonly #active: ActiveRuns;
  readonly #lanes: Lanes<Waiting> = createLanes();
  readonly #closed = new AbortController();
  /** Ends changes that are no runs. */
  readonly #cutOff = new AbortController();
  readonly #pace: Pace;
  /** Repositories whose webhooks are refused, which the log says once, until none of their runs is left. */
  readonly #full = new Set<string>();
  #closing: Promise<void> | undefined;

  constructor(parts: IntakeParts) {
    this.#parts = { ...parts, pollFailures: new PollFailures() };
    this.#active = new ActiveRuns(parts.clock);
    this.#pace = createPace(parts.clock, this.#closed.signal, parts.quietMs);
  }

  get open(): boolean {
    return this.#closing === undefined;
  }

  arrive(repository: string): Calm {
    if (this.#active.ofPushed(repository) >= MOST_OF_REPOSITORY) this.#refuse(repository);
    return this.#pace.arrive();
  }

  submit(work: Work, options: SubmitOptions = {}): Admission {
    this.#requireOpen();
    const waiting = options.lane === undefined ? undefined : this.#lanes.waiting(options.lane);
    const run = waiting === undefined ? undefined : this.#parts.runs.get(waiting.id);
    if (waiting === undefined || run === undefined) return this.#start(work, options);
    waiting.work = work;
    waiting.client = undefined;
    return { run, finished: waiting.finished, gaveWay: waiting.way.promise };
  }

  async change<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const id = this.#parts.ids.next();
    const done = work(this.#cutOff.signal);
    this.#active.add(id, { controller: this.#cutOff, finished: done.catch(() => {}) });
    using _ = atEnd(() => this.#active.remove(id));
    return await done;
  }

  skip({ trigger, message, ...facts }: NothingToDo): Run {
    this.#requireOpen();
    const { runs, ids, redactor } = this.#parts;
    const { repository } = facts;
    const about = repository === undefined ? [] : [sourceAsOwner(repository)];
    const redact = (text: string) => redactor.redact(text, ...about);
    const run = runs.accept({ id: ids.next(), trigger, ...redactTexts(facts, redact) });
    return runs.finish(run.id, { status: "skipped", message: redact(message) });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => this.#closed.abort());
    return this.#closing;
  }

  #refuse(repository: string): never {
    if (!this.#full.has(repository)) {
      this.#full.add(repository);
      const why = `${MOST_OF_REPOSITORY} runs for them wait or go on`;
      this.#parts.log.warning(`webhooks of a repository are refused: ${why}`, { repository });
    }
    throw requestError("too many webhooks of this repository wait", TRY_LATER, "overloaded");
  }

  #requireOpen(): void {
    if (!this.open) throw errors.shutting_down("application is shutting down");
  }

  #start(work: Work, { signal, repository, lane, waits }: SubmitOptions): Admission {
    const { runs, ids, redactor } = this.#parts;
    const facts = { ...openingFacts(work), ...(repository !== undefined && { repository }) };
    const shown = redactTexts(facts, (text) => redactor.redact(text));
    const run = runs.accept({ id: ids.next(), trigger: work.trigger, ...shown });
    const controller = new AbortController();
    const finished = Promise.resolve(run);
    const way = Promise.withResolvers<void>();
    const item: Waiting = { id: run.id, work, client: signal, finished, way };
    const slot = lane === undefined
      ? undefined
      : this.#lanes.enter(lane, item, waits !== undefined);
    item.finished = this.#inTurn(item, { slot, waits }, controller)
      .finally(runs.hold(run.id));
    const pushed = work.trigger === "webhook" ? repository : undefined;
    this.#active.add(run.id, { controller, finished: item.finished, pushed });
    return { run, finished: item.finished, gaveWay: way.promise };
  }

  async #inTurn(item: Waiting, { slot, waits }: Turn, controller: AbortController): Promise<Run> {
    const stopListening = slot && leaveWithClient(item, slot, controller);
    const givesWay = () => {
      slot?.leave();
      item.way.resolve();
    };
    using _ = atEnd(givesWay);
    const { signal } = controller;
    await slot?.turn(signal);
    // A shutdown ends this wait early; performing the work then ends at once.
    if (waits !== undefined) await this.#pace.calm(waits, signal);
    slot?.begin();
    stopListening?.();
    return await this.#perform(item, givesWay, controller);
  }

  async #perform(
    { id, work, client }: Waiting,
    givesWay: () => void,
    controller: AbortController,
  ): Promise<Run> {
    const cancel = () => controller.abort(cancellation(CANCELLED_BY_CLIENT));
    const { runs } = this.#parts;
    const stopListening = client && cancelBeforeChange({ runs, id, client, cancel });
    // Callers must see the run as accepted before anything happens to it.
    await Promise.resolve();
    try {
      const takesOver = () => stopListening?.();
      const opened = { id, work, givesWay, takesOver };
      const run = await perform(opened, this.#parts, controller.signal);
      this.#parts.onEnd?.(run, work);
      return run;
    } finally {
      stopListening?.();
      this.#active.remove(id);
      for (const each of this.#full) if (this.#active.ofPushed(each) === 0) this.#full.delete(each);
    }
  }

  async #close(): Promise<void> {
    const { log, clock, graceMs = SHUTDOWN_GRACE_MS } = this.#parts;
    if (this.#active.count === 0) return;
    log.info(`waiting for ${this.#active.count} active runs`, { grace_ms: graceMs });
    const end = clock.uptime() + graceMs;
    if (await this.#active.endWithin(graceMs / 2)) return;
    // There may be thousands of them, and whoever stops this process may end it after the grace.
    await this.#cut(({ trigger, targets }) => trigger === "webhook" && targets.length === 0);
    if (await this.#active.endWithin(Math.max(0, end - clock.uptime()))) return;
    // A job may go on without this process: its run says so itself.
    const isJob = ({ trigger }: Pick<Run, "trigger">) => trigger === "scheduled_job";
    this.#abort(this.#activeRuns().filter(isJob));
    this.#cutOff.abort(cancellation(CANCELLED_BY_SHUTDOWN));
    await this.#cut((run) => !isJob(run));
    await this.#active.endWithin(SETTLE_MS);
    await this.#cut(() => true);
  }

  /** The runs that have no end yet, also not by {@link #cut}. */
  #activeRuns(): readonly Run[] {
    return this.#active.ids.flatMap((id) => this.#parts.runs.get(id) ?? [])
      .filter(({ status }) => !isTerminal(status));
  }

  #abort(runs: readonly Run[]): void {
    this.#active.abort(runs.map(({ id }) => id), cancellation(CANCELLED_BY_SHUTDOWN));
  }

  /** Aborts and fails such runs, with pauses. The log says in one line how many came to no stack. */
  async #cut(isMeant: (run: Run) => boolean): Promise<void> {
    const { log, runs } = this.#parts;
    const end = { status: "failed", message: CANCELLED_BY_SHUTDOWN } as const;
    const pauses = createPauses(CUT_AT_ONCE);
    // The newest first: what waits must not begin where others have left.
    const meant = this.#activeRuns().filter(isMeant).reverse();
    const idle = meant.filter(({ targets }) => targets.length === 0).length;
    for (let from = 0; from < meant.length; from += CUT_AT_ONCE) {
      const part = meant.slice(from, from + CUT_AT_ONCE);
      this.#abort(part);
      runs.together(() => {
        for (const { id, targets } of part) {
          const told = targets.length === 0 ? SILENT_LOG : log.with({ job_id: id });
          endRun(id, end, { ...this.#parts, log: told });
        }
      });
      await pauses.after(part.length);
    }
    if (idle > 0) log.error(`${idle} runs failed before they came to a stack: ${end.message}`);
  }
}

/**
 * Cancels waiting work when its client disconnects and frees its slot at once, so that no later
 * request joins a cancelled run. Returns a function that stops listening.
 */
function leaveWithClient(item: Waiting, slot: LaneSlot, controller: AbortController): () => void {
  const { client } = item;
  const look = () => {
    if (item.client?.aborted !== true) return;
    controller.abort(cancellation(CANCELLED_BY_CLIENT));
    slot.leave();
  };
  client?.addEventListener("abort", look, { once: true });
  look();
  return () => client?.removeEventListener("abort", look);
}

const TRY_LATER =
  `${MOST_OF_REPOSITORY} runs for them wait or go on; send it again when some are over`;

/** Facts about a run that are known before any source was looked at. */
function openingFacts(work: Work): { repository?: string; target?: string } {
  const sources = sourcesOf(work);
  const [first] = sources;
  if (first === undefined) return {};
  return sources.length > 1 ? { repository: "multiple" } : { target: first.target };
}

/** Message of a run that the end of the process cut short. */
export const CANCELLED_BY_SHUTDOWN = "cancelled by shutdown";
/** Message of a run whose waiting client went away. */
export const CANCELLED_BY_CLIENT = "cancelled: the client that waited for it disconnected";

/** The error to abort work with; its message becomes the run's. */
function cancellation(message: typeof CANCELLED_BY_SHUTDOWN | typeof CANCELLED_BY_CLIENT) {
  return errors.cancelled(message);
}
