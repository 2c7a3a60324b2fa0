import type { JobSpec } from "../config/mod.ts";
import { messageOf } from "../model/mod.ts";
import { nextFiring } from "../plan/mod.ts";
import { createPauses, createTimeFormat, type Log } from "../system/mod.ts";
import { firstOfInterval, type IntervalStart } from "./interval_start.ts";
import type { LeftRunsParts } from "./left_runs.ts";
import type { PollParts } from "./poll_parts.ts";
import { isJobOf, type ScheduledJob } from "./scheduled_job.ts";

/** A job with the time of its next run. */
interface Planned {
  readonly job: ScheduledJob;
  readonly spec: JobSpec;
  readonly fingerprint: string;
  readonly next: Date | undefined;
  /** Why its last run was left out, where that was said. */
  readonly left?: string | undefined;
  /** Runs in a row that were refused. */
  readonly refusals: number;
}

/** Ports of planned jobs. */
export interface PlannedJobsParts
  extends Pick<PollParts, "clock" | "log" | "timeZone">, Pick<LeftRunsParts, "left"> {
  /** Called once per look: finds what the interval of a job counts from. */
  readonly intervals: () => (job: ScheduledJob) => IntervalStart;
}

/** One look for jobs: its time, and what intervals count from. */
interface Look {
  readonly now: Date;
  readonly startOf: (job: ScheduledJob) => IntervalStart;
}

/** Milliseconds after a run that was refused: the first pause, doubling, and the longest. */
const REFUSED_MS = { first: 1000, longest: 5 * 60_000 } as const;
/** Characters of other texts that take as long to process as a new schedule. */
const A_SCHEDULE = 8 * 1024;
/** Characters of other texts that take as long as writing a line. */
const A_LINE = 256;

/** The enabled jobs of an engine by name, with the times at which they run next. */
export class PlannedJobs {
  readonly #parts: PlannedJobsParts;
  readonly #jobs = new Map<string, Planned>();
  /** Whether nothing was looked for yet. */
  #isStart = true;

  constructor(parts: PlannedJobsParts) {
    this.#parts = parts;
  }

  get(name: string): Planned | undefined {
    return this.#jobs.get(name);
  }

  all(): Iterable<readonly [string, Planned]> {
    return this.#jobs;
  }

  /** Milliseconds since 1970 of the earliest next run. */
  earliest(): number | undefined {
    let earliest: number | undefined;
    for (const { next } of this.#jobs.values()) {
      const at = next?.getTime();
      if (at !== undefined && (earliest === undefined || at < earliest)) earliest = at;
    }
    return earliest;
  }

  /** Plans the jobs that were found, and no others of the stack, or of all; those that stay keep their times. */
  async follow(found: ReadonlyMap<string, ScheduledJob>, stack?: string): Promise<void> {
    const now = this.#parts.clock.now();
    const pauses = createPauses();
    for (const [name, { job }] of this.#jobs) {
      const still = found.get(name);
      if (!isJobOf(name, stack) || still?.spec?.enabled === true) continue;
      this.#jobs.delete(name);
      const reason = still === undefined ? "removed" : "disabled";
      logAbout(job, this.#parts.log).info("job unscheduled", { reason });
      await pauses.after(A_LINE);
    }
    const startOf = this.#parts.intervals();
    for (const [name, job] of found) {
      // Thousands of new schedules with different zones take seconds to read.
      if (this.#plan(name, job, { now, startOf })) await pauses.after(A_SCHEDULE);
    }
    this.#isStart = false;
  }

  /** Plans a job's next run, from now on; `left` tells why this one is left out, which is said once. */
  again(name: string, left?: string): void {
    const planned = this.#jobs.get(name);
    if (planned !== undefined && planned.left !== left) {
      this.#jobs.set(name, { ...planned, left });
      if (left) logAbout(planned.job, this.#parts.log).warning(`the job is not run: ${left}`);
    }
    this.#planAfter(name, this.#parts.clock.now());
  }

  /** Plans all next runs anew, since the clock was set back; those that are due stay due. */
  async replan(): Promise<void> {
    const now = this.#parts.clock.now();
    const pauses = createPauses();
    for (const [name, { next }] of [...this.#jobs]) {
      if (next === undefined || next > now) this.#planAfter(name, now);
      await pauses.after(A_SCHEDULE);
    }
  }

  /** Notes how a run ended. One that is refused again and again comes more and more rarely. */
  noteEnd(name: string, wasRefused: boolean): void {
    const planned = this.#jobs.get(name);
    if (planned === undefined) return;
    const refusals = wasRefused ? planned.refusals + 1 : 0;
    this.#jobs.set(name, { ...planned, refusals });
    if (refusals === 0) return;
    const now = this.#parts.clock.now().getTime();
    const pause = Math.min(REFUSED_MS.first * 2 ** (refusals - 1), REFUSED_MS.longest);
    this.#planAfter(name, new Date(now + pause));
    const next = this.#jobs.get(name)?.next;
    if (next === undefined || planned.next === undefined || next <= planned.next) return;
    logAbout(planned.job, this.#parts.log).warning(
      "a run of the job was refused, so it is run more rarely until that has an end",
      { refused: refusals, next_run: createTimeFormat(this.#parts.timeZone)(next) },
    );
  }

  /** Plans a job; returns whether its schedule is new, which takes a while to read. */
  #plan(name: string, job: ScheduledJob, look: Look): boolean {
    const { spec } = job;
    const before = this.#jobs.get(name);
    if (spec === undefined || !spec.enabled) {
      if (job.problem !== undefined && before !== undefined) this.#jobs.delete(name);
      return false;
    }
    const fingerprint = JSON.stringify(spec);
    if (before?.fingerprint === fingerprint) {
      this.#jobs.set(name, { ...before, job });
      return false;
    }
    const next = this.#firstOf(job, spec, look);
    this.#jobs.set(name, { job, spec, fingerprint, next, refusals: 0 });
    const at = next === undefined ? "never" : createTimeFormat(this.#parts.timeZone)(next);
    logAbout(job, this.#parts.log).info("job scheduled", { schedule: spec.schedule, next_run: at });
    return true;
  }

  #firstOf(job: ScheduledJob, spec: JobSpec, { now, startOf }: Look): Date | undefined {
    const fromNow = this.#nextOf(spec, now);
    if (fromNow === undefined || !spec.schedule.includes("@every")) return fromNow;
    const [isStart, isLeft] = [this.#isStart, this.#parts.left(job) !== undefined];
    return firstOfInterval(job, { ...startOf(job), now, fromNow, isStart, isLeft });
  }

  #planAfter(name: string, after: Date): void {
    const planned = this.#jobs.get(name);
    if (planned === undefined) return;
    this.#jobs.set(name, { ...planned, next: this.#nextOf(planned.spec, after) });
  }

  #nextOf({ schedule }: JobSpec, after: Date): Date | undefined {
    try {
      return nextFiring(schedule, after, this.#parts.timeZone);
    } catch (error) {
      this.#parts.log.warning(`a job has no schedule: ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** The log with a job's fields. */
export function logAbout({ name, key }: Pick<ScheduledJob, "name" | "key">, log: Log): Log {
  return log.with({ job: name, stack: key.name, context: key.context });
}
