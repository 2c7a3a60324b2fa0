/**
 * The outside becomes Work: webhooks, and entries that are polled at an interval or on a schedule. A
 * trigger only says that something should be looked at; it never decides what to do about it.
 */
export * from "./opening_alarm.ts";
export * from "./poll_loop.ts";
export * from "./repository_changes.ts";
export * from "./retry_alarm.ts";
export * from "./webhooks/mod.ts";
