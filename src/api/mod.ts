/**
 * The operations: everything that clients can ask for, each defined once with its input, output and
 * handler, whatever face it is called through.
 */
export * from "./adopt.ts";
export * from "./compact_mirrors.ts";
export * from "./context.ts";
export * from "./deployments.ts";
export * from "./diff_releases.ts";
export * from "./forget.ts";
export * from "./get_deployment.ts";
export * from "./health.ts";
export * from "./hold.ts";
export * from "./jobs.ts";
export * from "./list_decisions.ts";
export * from "./list_releases.ts";
export * from "./operation.ts";
export * from "./operations.ts";
export * from "./projects.ts";
export * from "./receive_webhook.ts";
export * from "./release_views.ts";
export * from "./roll_back.ts";
export * from "./run_polls.ts";
export * from "./run_view.ts";
export * from "./run_work.ts";
export * from "./runs.ts";
export * from "./stack_statuses.ts";
export * from "./stacks.ts";
export {
  type StackActionView,
  stackActionView,
  type StackServiceView,
  stackServiceView,
} from "./stack_view.ts";
export * from "./sync_source.ts";
export * from "./sync_stack.ts";
export * from "./sync_windows.ts";
export * from "./unified_diff.ts";
export * from "./unpin.ts";
export { MOST_POLL_REQUESTS, pollEntrySchema } from "../config/mod.ts";
export { PROJECT_ACTIONS, STACK_ACTIONS } from "../deploy/mod.ts";
export { STACK_STATES } from "../plan/mod.ts";
