import type { ScheduledJob } from "./scheduled_job.ts";

/** What an interval (`@every 1h`) of a job counts from, as it is recorded: it outlives the process. */
export interface IntervalStart {
  /** When its last run began. */
  readonly lastRunAt?: Date;
  readonly deployedAt?: Date;
}

/** What is known when a job with an interval is planned for the first time. */
interface FirstPlan extends IntervalStart {
  readonly now: Date;
  /** When it would be due if the interval began now. */
  readonly fromNow: Date;
  /** Whether the process has just started: what was due meanwhile could not be run. */
  readonly isStart: boolean;
  /** Whether a run of it has left something stopped. */
  readonly isLeft: boolean;
}

/**
 * The first time of a job with an interval: it goes on from the last run, or at a start from the
 * deployment, so that neither restarts nor new containers put it off. A run that came due while nobody
 * was there is due now, once, unless an earlier process's run is under way.
 */
export function firstOfInterval(
  { isRunning, executions }: Pick<ScheduledJob, "isRunning" | "executions">,
  { now, fromNow, isStart, isLeft, lastRunAt, deployedAt }: FirstPlan,
): Date {
  const from = lastRunAt ?? (isStart ? deployedAt : undefined);
  const period = fromNow.getTime() - now.getTime();
  if (from === undefined || from > now || period <= 0) return fromNow;
  const passed = now.getTime() - from.getTime();
  const isMissed = isStart && passed >= period && lastRunAt !== undefined;
  if (isMissed && !isRunning && executions.length === 0 && !isLeft) return now;
  return new Date(now.getTime() + period - passed % period);
}
