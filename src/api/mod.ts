/**
 * The operations: everything that clients can ask for, each defined once with its input, output and
 * handler, whatever face it is called through.
 */
export * from "./compact_mirrors.ts";
export * from "./deployments.ts";
export * from "./get_deployment.ts";
export * from "./health.ts";
export * from "./jobs.ts";
export * from "./operation.ts";
export * from "./operations.ts";
export * from "./projects.ts";
export * from "./receive_webhook.ts";
export * from "./release_views.ts";
export * from "./run_view.ts";
export * from "./run_work.ts";
export type { SourceFailureView } from "./source_failures.ts";
export * from "./stack_statuses.ts";
export type { StackServiceView } from "./stack_view.ts";
export * from "./sync_source.ts";
export * from "./unified_diff.ts";
export { MOST_POLL_REQUESTS, pollEntrySchema } from "../config/mod.ts";
export { PROJECT_ACTIONS, STACK_ACTIONS } from "../deploy/mod.ts";
export { STACK_STATES } from "../plan/mod.ts";
