import { type JobFacts, jobLane } from "../api/mod.ts";
import { ASIDE } from "../compose/mod.ts";
import { readJobLabels } from "../config/mod.ts";
import { calledJobs, findJobs, type FoundJob, lastLines, notedJob } from "../deploy/mod.ts";
import type { Intake, Performers } from "../intake.ts";
import {
  DEFAULT_CONTEXT,
  formatStackKey,
  LABELS,
  messageOf,
  type RunJob,
  type StackKey,
} from "../model/mod.ts";
import type { Pipeline } from "../pipeline.ts";
import { type Ledger, type RunStore, whyLeft } from "../record/mod.ts";
import { checkSchedule } from "../plan/mod.ts";
import {
  atEnd,
  type Clock,
  createFairLimiter,
  createKeyedLock,
  createPauses,
  type Ids,
  type Log,
  type Meter,
  type Redactor,
  stackAsOwner,
} from "../system/mod.ts";
import type { Engines } from "./engines.ts";
import { intervalStarts } from "./interval_starts.ts";
import {
  isJobOf,
  JobScheduler,
  nameOfJob,
  type ScheduledJob,
  type SharedEvents,
} from "../trigger/mod.ts";

/** Runs of another context's jobs that go on at once: its engine may tell of any number. */
const MOST_RUNS = 100;
/** Characters of other texts that take as long as finding out that a schedule never fires. */
const A_SCHEDULE = 4 * 1024;
/** Containers and services for runs that are made at once. */
const MOST_MADE = 8;

interface JobBoardParts {
  readonly engines: Pick<Engines, "of">;
  readonly events: (context: string) => SharedEvents;
  readonly ledger: Ledger;
  readonly gate: () => { readonly intake: Intake; readonly runs: Pick<RunStore, "list"> };
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly redactor: Pick<Redactor, "redact">;
  /** Waits until the secrets of a stack are hidden. */
  readonly learned: (key: StackKey, signal: AbortSignal) => Promise<void>;
  readonly ids: Ids;
  readonly timeZone: string;
  /** Whether to look at services of a swarm. */
  readonly hasSwarmFeatures: boolean;
}

/** The boards of all contexts, each made on first use. */
export class JobBoards {
  readonly #parts: JobBoardParts;
  readonly #signal: AbortSignal;
  readonly #made = new Map<string, JobBoard>();

  /** Makes boards whose schedulers work until `signal` aborts. */
  constructor(parts: JobBoardParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  of(context: string): JobBoard {
    return this.#made.getOrInsertComputed(
      context,
      () => new JobBoard(context, this.#parts, () => this.#made.values(), this.#signal),
    );
  }
}

/** The jobs of a context: their schedule, their runs, and the results. */
class JobBoard {
  readonly context: string;
  readonly scheduler: JobScheduler;
  readonly #parts: JobBoardParts;
  readonly #making = createFairLimiter(MOST_MADE);
  /** Exit code of the last run of each job, where it had one. */
  readonly #codes = new Map<string, number>();
  readonly #looks = createKeyedLock();

  readonly #all: () => Iterable<JobBoard>;

  /** Makes a board, one of `all`, whose scheduler works until `signal` aborts. */
  constructor(
    context: string,
    parts: JobBoardParts,
    all: () => Iterable<JobBoard>,
    signal: AbortSignal,
  ) {
    this.context = context;
    this.#parts = parts;
    this.#all = all;
    const { events, gate, ledger, clock, log, meter, timeZone } = parts;
    this.scheduler = new JobScheduler({
      find: async (within, stack) => (await this.#find(within, stack)).map(({ job }) => job),
      events: events(context),
      whyLeft: (job) => whyLeft(ledger, job.key) ?? this.#whyElsewhere(job),
      left: ({ key, service }) => ledger.stoppedByJobs.of(key, service).get()?.id,
      submit: (work) => gate().intake.submit(work, { lane: jobLane(work) }),
      clock,
      log: log.with({ context }),
      meter,
      timeZone,
      intervals: () => intervalStarts(() => gate().runs, ledger),
      ...(context === DEFAULT_CONTEXT ? {} : { mostRuns: MOST_RUNS }),
    }, signal);
  }

  /** Runs jobs at their times; if that is disabled, only adopts runs of an earlier process. */
  start(isEnabled: boolean): Promise<void> {
    return isEnabled ? this.scheduler.run() : this.scheduler.adopt();
  }

  /** Runs a job, and records the run. */
  readonly perform =
    (pipeline: Pick<Pipeline, "runJob">): NonNullable<Performers["job"]> =>
    async (work, reporter, signal) => {
      const done = this.scheduler.begin(work);
      using _ = atEnd(done);
      const { client } = await this.#parts.engines.of(this.context);
      return await pipeline.runJob(work, reporter, {
        engine: client,
        making: this.#making,
        results: { set: (job, code, wasRefused) => this.#note(job, code, wasRefused) },
        // When the process ends, runs are left to the next process.
        leaves: () => !this.#parts.gate().intake.open,
        nextId: () => this.#parts.ids.next(),
        looks: this.#looks,
      }, signal);
    };

  /** All jobs with status and times. The list is about no stack: what it quotes of one is masked here. */
  async list(signal: AbortSignal): Promise<JobFacts[]> {
    const { redactor, ledger } = this.#parts;
    const sources = new Map<string, string | undefined>();
    return (await this.#find(signal)).map(({ job, found }) => {
      const problem = job.problem && redactor.redact(job.problem, stackAsOwner(job.key));
      const { isRunning, ...times } = this.scheduler.timesOf(job);
      const status = this.#statusOf(job, found, isRunning);
      const told = problem === undefined ? job : { ...job, problem };
      // A container that was not changed since is labelled for whose its stack was before.
      const from = sources.getOrInsertComputed(
        formatStackKey(job.key),
        () => ledger.current(job.key)?.revision.source.name,
      );
      return {
        ...told,
        ...times,
        status,
        container: found.container,
        printed: (within) => this.#printed(found, within),
        repository: from ?? job.source,
      };
    });
  }

  /** What a job's container printed last; nothing of a service, whose tasks come and go. */
  async #printed({ key, container, swarm }: FoundJob, signal: AbortSignal): Promise<string> {
    if (swarm !== undefined) return "";
    const { engines, clock, redactor, learned } = this.#parts;
    await learned(key, signal);
    const { client: engine } = await engines.of(this.context);
    return redactor.redact(
      await lastLines({ engine, clock }, container.id, signal),
      stackAsOwner(key),
    );
  }

  /**
   * Why a job is run by another context that leads to its engine: that which has its stack, or, of nobody's, the
   * default one, or else the first by name. Told by what they plan: an engine that only says that it is
   * another one does not know the ids of its containers, and would keep jobs there from running.
   */
  #whyElsewhere({ key, service, id }: ScheduledJob): string | undefined {
    const { ledger } = this.#parts;
    const rank = (context: string) => {
      const by = { ...key, context };
      const isNobodys = ledger.owners.get(by) === undefined || whyLeft(ledger, by) !== undefined;
      return `${Number(isNobodys)} ${Number(context !== DEFAULT_CONTEXT)} ${context}`;
    };
    for (const { scheduler, context } of this.#all()) {
      if (!scheduler.plans({ key: { ...key, context }, service, id })) continue;
      if (rank(context) < rank(key.context)) {
        return `context ${context} leads to the same engine, and runs it`;
      }
    }
    return undefined;
  }

  async #find(
    signal: AbortSignal,
    stack?: string,
  ): Promise<{ job: ScheduledJob; found: FoundJob }[]> {
    const { engines, ledger, hasSwarmFeatures } = this.#parts;
    const context = this.context;
    const { client } = await engines.of(context);
    const isManager = hasSwarmFeatures && (await client.info(signal)).swarm === "manager";
    const of = stack === undefined ? undefined : { project: stack };
    const all = await findJobs(client, { context, isManager, of }, signal);
    const called = await calledJobs(ledger, all);
    // What a job had stopped that nobody can find any more is to be started all the same.
    const known = new Set(called.map(({ key, service }) => nameOfJob({ key, service })));
    const left = ledger.stoppedByJobs.all(context, stack).filter((run) =>
      !known.has(nameOfJob(run))
    );
    const found = [...called, ...left.map(notedJob)];
    const names = new Set(found.map(({ key, service }) => nameOfJob({ key, service })));
    for (const name of this.#codes.keys()) {
      if (isJobOf(name, stack) && !names.has(name)) this.#codes.delete(name);
    }
    const read: { job: ScheduledJob; found: FoundJob }[] = [];
    const pauses = createPauses();
    for (const each of found) {
      read.push({ job: this.#read(each), found: each });
      await pauses.after(A_SCHEDULE);
    }
    return read;
  }

  #read({ key, service, container, scale, executions, swarm }: FoundJob): ScheduledJob {
    const job = {
      key,
      service,
      // What compose makes to replace another one has its name a moment later, and is told of once.
      name: container.name.replace(ASIDE, ""),
      source: container.labels[LABELS.sourceName] ?? "",
      mode: swarm === undefined ? "container" : "swarm",
      id: swarm ?? container.id,
      isRunning: container.state === "running",
      executions: executions.map(({ id }) => id),
    } as const;
    if (scale === 0) {
      return { ...job, problem: "it is gone, but for a run that goes on to its end" };
    }
    try {
      const spec = readJobLabels(container.labels, { project: key.name, service });
      const { clock } = this.#parts;
      const problem = spec?.enabled === true && !spec.schedule.includes("@every")
        ? checkSchedule(spec.schedule, { now: clock.now() })
        : undefined;
      if (problem !== undefined) return { ...job, problem: `schedule: ${problem}` };
      return spec === undefined ? job : { ...job, spec };
    } catch (error) {
      return { ...job, problem: messageOf(error) };
    }
  }

  #statusOf({ key, service, spec }: ScheduledJob, found: FoundJob, isRunning: boolean): string {
    const { state, exitCode } = found.container;
    const isOneOff = spec?.mode === "one_off";
    const isUnderWay = found.executions.some((each) => !ENDED.includes(each.state));
    if (isOneOff && (isRunning || isUnderWay)) return "running";
    const isInactive = state === "created" || ENDED.includes(state);
    const code = isOneOff && isInactive ? this.#codes.get(nameOfJob({ key, service })) : undefined;
    if (code !== undefined) return `exited (${code})`;
    return state === "exited" ? `exited (${exitCode ?? 0})` : state;
  }

  #note(job: RunJob, code: number | undefined, wasRefused: boolean): void {
    if (code === undefined) this.#codes.delete(nameOfJob(job));
    else this.#codes.set(nameOfJob(job), code);
    if (job.origin === "automatic") this.scheduler.noteEnd(job, wasRefused);
  }
}

/** States of containers that stay stopped. */
const ENDED: readonly string[] = ["exited", "dead"];
