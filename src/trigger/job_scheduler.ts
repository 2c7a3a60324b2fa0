import type { JobSpec } from "../config/mod.ts";
import type { ContainerEvent } from "../docker/mod.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  COMPOSE_LABELS,
  isStackwrightError,
  type RunJob,
} from "../model/mod.ts";
import type { Meter } from "../system/mod.ts";
import { ActiveRuns } from "./active_runs.ts";
import { Alarm } from "./alarm.ts";
import { type JobName, LeftRuns } from "./left_runs.ts";
import { logAbout, PlannedJobs, type PlannedJobsParts } from "./planned_jobs.ts";
import type { SharedEvents } from "./shared_events.ts";
import { isJobOf, nameOfJob, type ScheduledJob } from "./scheduled_job.ts";
import { type JobToStart, startRuns } from "./start_runs.ts";

interface JobSchedulerParts extends PlannedJobsParts {
  /** Finds all jobs, or those of one stack. */
  readonly find: (signal: AbortSignal, stack?: string) => Promise<readonly ScheduledJob[]>;
  /** The engine's events, until the scheduler's signal aborts. */
  readonly events: Pick<SharedEvents, "follow">;
  /** Why a job that is due is not run; `undefined` where it is. */
  readonly whyLeft: (job: ScheduledJob) => string | undefined;
  /** Submits a run; of each job one runs, and at most one waits. Throws `shutting_down`. */
  readonly submit: (work: RunJob) => unknown;
  readonly meter: Pick<Meter, "count">;
  /** Runs at once, any number by default, a quarter of them for one source. Others that are due wait. */
  readonly mostRuns?: number;
}

/** Times of a job's last and next run. */
interface JobTimes {
  readonly lastRunAt?: Date;
  readonly nextRunAt?: Date;
  readonly isRunning: boolean;
}

/** Milliseconds in which events are collected before a look, and between failed looks. */
const QUIET_MS = 250;
const AGAIN_MS = 1000;
/** Longest pause between failed looks, which doubles while the engine answers with errors. */
const LONGEST_AGAIN_MS = 30_000;
/** Stacks that are looked at one by one; where more have news, all are looked at together. */
const MOST_STACKS = 20;

/**
 * Starts jobs when they are due, with one timer for the earliest. Looks for a stack's jobs when its
 * containers come, go or are renamed, and for all when events may have been missed. Firings that pass while the
 * process is down are not made up for, apart from one of an interval.
 */
export class JobScheduler {
  readonly #parts: JobSchedulerParts;
  readonly #signal: AbortSignal;
  readonly #alarm: Alarm;
  readonly #planned: PlannedJobs;
  readonly #active = new ActiveRuns();
  readonly #lastRuns = new Map<string, Date>();
  readonly #left: LeftRuns;
  #hasAdopted = false;
  #isFiring = false;
  /** Whether jobs that are due wait until others of their source end. */
  #isCrowded = false;
  /** Stacks of which events came since the last look, `undefined` for all, and the looks that follow these. */
  #stirred = new Set<string | undefined>();
  #looks: Promise<void> | undefined;

  constructor(parts: JobSchedulerParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#planned = new PlannedJobs(parts);
    const left = { ...parts, active: this.#active, start: this.#start.bind(this) };
    this.#left = new LeftRuns(left, signal);
    this.#alarm = new Alarm(parts.clock, (setBackMs) => void this.#fire(setBackMs > 0), signal);
  }

  /** Schedules until the signal aborts; never rejects. Call it once. */
  async run(): Promise<void> {
    await this.#parts.events.follow({
      onEvent: (event) => {
        if (mayConcernJobs(event)) this.#stir(QUIET_MS, stackOf(event));
      },
      onGap: () => this.#stir(0),
    });
    await this.#looks;
  }

  /** Adopts runs of an earlier process once the engine answers, and starts nothing. Never rejects. */
  async adopt(): Promise<void> {
    const { find, clock, log } = this.#parts;
    while (!this.#signal.aborted) {
      try {
        return await this.#adopt(await find(this.#signal));
      } catch (error) {
        log.debug("jobs that may be under way are looked for again", { error });
      }
      await clock.sleep(AGAIN_MS, this.#signal).catch(() => {});
    }
  }

  /**
   * Looks for jobs of all stacks, or of one, and adopts runs that nobody looks after: the first time all that an
   * earlier process began, and then those that left something stopped which could not be started.
   */
  async refresh(stack?: string): Promise<void> {
    const only = this.#hasAdopted ? stack : undefined;
    const jobs = await this.#parts.find(this.#signal, only);
    const found = new Map(jobs.map((job) => [nameOfJob(job), job]));
    await this.#planned.follow(found, only);
    for (const name of this.#lastRuns.keys()) {
      const isGone = isJobOf(name, only) && !found.has(name);
      if (isGone && !this.#active.has(name)) this.#lastRuns.delete(name);
    }
    // Not awaited: it may wait until other runs end.
    void this.#adopt(jobs);
    this.#arm();
  }

  async #adopt(jobs: readonly ScheduledJob[]): Promise<void> {
    // Containers that appear later are of this process.
    const isFirst = !this.#hasAdopted;
    this.#hasAdopted = true;
    await this.#startAll(jobs.flatMap((job) => {
      const ids = [...isFirst ? job.executions : [], ...this.#left.by(job)];
      return [...new Set(ids)].map((adopts) => ({ job, how: { adopts } }));
    }));
  }

  /** Whether it runs a job when that is due; one that was made anew since it looked is another. */
  plans(job: Pick<ScheduledJob, "key" | "service" | "id">): boolean {
    return this.#planned.get(nameOfJob(job))?.job.id === job.id;
  }

  /** Notes how an automatic run of a job ended, and plans its next one accordingly. */
  noteEnd(job: JobName, wasRefused: boolean): void {
    const name = nameOfJob(job);
    this.#planned.noteEnd(name, wasRefused);
    // It may be nobody's by now, of which no event told: its container can be left as it was.
    if (wasRefused && this.#planned.get(name) !== undefined) this.#stir(QUIET_MS, job.key.name);
    this.#arm();
  }

  /** Records that a run begins; returns a function that records its end. */
  begin(job: JobName): () => void {
    const name = nameOfJob(job);
    this.#lastRuns.set(name, this.#parts.clock.now());
    const end = this.#active.begin(name, this.#planned.get(name)?.job.source ?? "");
    return () => {
      end();
      this.#left.noteEnd(job);
    };
  }

  /** Times of a job's last and next run. */
  timesOf(job: JobName): JobTimes {
    const name = nameOfJob(job);
    const [last, next] = [this.#lastRuns.get(name), this.#planned.get(name)?.next];
    return {
      ...(last === undefined ? {} : { lastRunAt: last }),
      ...(next === undefined ? {} : { nextRunAt: next }),
      isRunning: this.#active.has(name),
    };
  }

  /** Has jobs of a stack, or of all, looked for after a pause, in which more events may come. */
  #stir(pause: number, stack?: string): void {
    this.#stirred.add(stack || undefined);
    if (this.#stirred.size > MOST_STACKS) this.#stirred = new Set([undefined]);
    this.#looks ??= this.#look(pause);
  }

  /** Looks until no more events came, and until the engine answers. */
  async #look(first: number): Promise<void> {
    const { clock, log } = this.#parts;
    let again = AGAIN_MS;
    for (let pause = first; this.#stirred.size > 0 && !this.#signal.aborted;) {
      if (pause > 0) await clock.sleep(pause, this.#signal).catch(() => {});
      if (this.#signal.aborted) break;
      const stacks = this.#stirred.has(undefined) ? [undefined] : [...this.#stirred];
      this.#stirred.clear();
      pause = QUIET_MS;
      try {
        for (const stack of stacks) await this.refresh(stack);
        again = AGAIN_MS;
      } catch (error) {
        if (this.#signal.aborted) break;
        log.debug("jobs are looked for again", { error });
        for (const stack of stacks) this.#stirred.add(stack);
        pause = again;
        if (isStackwrightError(error, "engine_refused")) {
          again = Math.min(2 * again, LONGEST_AGAIN_MS);
        }
      }
    }
    this.#looks = undefined;
  }

  #arm(): void {
    const earliest = this.#planned.earliest();
    const soonest = this.#isCrowded ? this.#parts.clock.now().getTime() + AGAIN_MS : 0;
    this.#alarm.set(earliest === undefined ? undefined : Math.max(earliest, soonest));
  }

  #leaveOut(job: ScheduledJob, spec: JobSpec): void {
    const { context, name: stack } = job.key;
    logAbout(job, this.#parts.log).warning("the job is left out: its last run is under way");
    this.#parts.meter.count("scheduled_run_skipped_total", {
      context,
      stack,
      job: job.name,
      mode: job.mode,
      execution_mode: spec.mode,
      reason: "still_running",
    });
  }

  async #fire(wasSetBack: boolean): Promise<void> {
    if (wasSetBack) await this.#planned.replan();
    if (this.#isFiring) return;
    this.#isFiring = true;
    try {
      await this.#startAll(this.#due());
    } finally {
      this.#isFiring = false;
    }
    this.#arm();
  }

  /** The jobs that are due; `undefined` for each that is left out, which was planned as well. */
  *#due(): Generator<JobToStart<ScheduledJob> | undefined> {
    const hadToWait = this.#isCrowded;
    this.#isCrowded = false;
    for (const [name, { job, spec, next }] of this.#planned.all()) {
      const now = this.#parts.clock.now();
      if (next === undefined || next > now) continue;
      const why = this.#parts.whyLeft(job);
      if (why !== undefined) {
        this.#planned.again(name, why);
        yield undefined;
        continue;
      }
      const isLeftOut = spec.skipRunning &&
        (this.#active.has(name) || job.isRunning && spec.mode === "restart");
      if (!isLeftOut && this.#hasItsShare(job)) {
        if (!hadToWait && !this.#isCrowded) {
          logAbout(job, this.#parts.log).warning(
            "jobs that are due wait: too many of their repository run",
          );
        }
        this.#isCrowded = true;
        continue;
      }
      // Firings that passed while the machine slept count as one.
      this.#planned.again(name);
      if (isLeftOut) this.#leaveOut(job, spec);
      yield isLeftOut ? undefined : { job, how: {} };
    }
  }

  /** Whether so many runs of the job's source go on that it would take the places of others. */
  #hasItsShare({ source }: ScheduledJob): boolean {
    return this.#active.ofSource(source) >= (this.#parts.mostRuns ?? Infinity) / 4;
  }

  #startAll(runs: Iterable<JobToStart<ScheduledJob> | undefined>): Promise<void> {
    const { clock, log, mostRuns = Infinity } = this.#parts;
    const start = ({ job, how }: JobToStart<ScheduledJob>) =>
      this.#start(job, { origin: "automatic", ...how });
    return startRuns(runs, { clock, log, active: this.#active, mostRuns, start }, this.#signal);
  }

  #start(job: JobName, how: Pick<RunJob, "origin" | "adopts">): void {
    try {
      void this.#parts.submit(this.#work(job, how));
    } catch (error) {
      if (isStackwrightError(error, "shutting_down")) return;
      logAbout({ name: job.service, key: job.key }, this.#parts.log).error(
        "BUG: a job could not be started",
        { error },
      );
    }
  }

  #work({ key, service }: JobName, how: Pick<RunJob, "origin" | "adopts">): RunJob {
    return { kind: "job", trigger: "scheduled_job", key, service, ...how };
  }
}

/** The stack that an event is about; empty where only a look at all tells. */
function stackOf({ type, attributes }: ContainerEvent): string {
  return type === "service" ? "" : attributes[COMPOSE_LABELS.project] ?? "";
}

/** Events of swarm services have no labels, so any of them may be about a job. */
function mayConcernJobs({ type, attributes }: ContainerEvent): boolean {
  return type === "service" ||
    behaviourLabel(attributes, BEHAVIOUR_LABELS.jobEnabled) !== undefined;
}
