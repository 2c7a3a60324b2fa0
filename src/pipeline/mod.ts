/**
 * The steps of the pipeline that need several rooms: reading a deployment's inputs, making its release,
 * images, carrying a plan out, destroying, recovering. `../pipeline.ts` puts them in order.
 */
export { act, isDestroyOvertaken, type ToDo, waitForJobs } from "./act.ts";

export * from "./collect_trees.ts";
export { decideAsOwner } from "./owner/decide_as_owner.ts";
export { handedOverWith } from "./owner/claim.ts";
export {
  type Decision,
  doneListener,
  heldAnyway,
  leave,
  overtaken,
  toldDecision,
} from "./decision.ts";
export * from "./destroy_target.ts";
export * from "./hold.ts";
export * from "./expand_deployments.ts";
export * from "./parts.ts";
export * from "./open_source.ts";
export * from "./source/deploy_named.ts";
export { oneOfMany, withLed } from "./source/led_sources.ts";
export { throwFailures } from "./source/throw_failures.ts";
export { noteDecision } from "./decide/note_decision.ts";
export { lendingLock } from "./decide/lending_lock.ts";
export { type Begin, untilAsked } from "./decide/until_asked.ts";
export { keptNames } from "./owner/kept_names.ts";
export { lockedForTarget } from "./owner/locked_for_target.ts";
export { askBeforeHandOver, type AskParts } from "./owner_elsewhere.ts";
export * from "./plan_source.ts";
export * from "./rollout/prune_images.ts";
export * from "./reconcile/observe_engine.ts";
export * from "./reconcile.ts";
export * from "./recover.ts";
export * from "./recreate.ts";
export { withDataOfTargets } from "./destroy/data_of_targets.ts";
export * from "./remove_obsolete.ts";
export * from "./resolve_revision.ts";
export * from "./roll_back.ts";
export * from "./run_job.ts";
export * from "./stack_owner.ts";
export { hasClosed } from "./sync_gate.ts";
export * from "./waits.ts";
