/**
 * The outside becomes Work: webhooks, polls at an interval or on a schedule, schedules of jobs, and
 * events of containers. A trigger only says that something is to be looked at; it decides nothing.
 */
export type { IntervalStart } from "./interval_start.ts";
export * from "./job_scheduler.ts";
export * from "./opening_alarm.ts";
export { NEWS_ACTIONS, newsOf } from "./container_news.ts";
export * from "./poll_loop.ts";
export * from "./scheduled_job.ts";
export { Reconciler } from "./reconciler.ts";
export * from "./repository_changes.ts";
export * from "./retry_alarm.ts";
export { SharedEvents } from "./shared_events.ts";
export * from "./webhooks/mod.ts";
