/**
 * What Stackwright remembers: runs in memory, and in the ledger, which outlives the process, the
 * releases of every stack and the last runs.
 */
export { chooseRelease } from "./choose_release.ts";
export * from "./copy_ledger.ts";
export { isLocked, lockFile } from "./file_lock.ts";
export * from "./decision_log.ts";
export * from "./deferred.ts";
export * from "./deployed_by.ts";
export * from "./discovered_stacks.ts";
export * from "./hand_over.ts";
export * from "./instance_key.ts";
export * from "./ledger.ts";
export * from "./others_release.ts";
export * from "./pins.ts";
export * from "./processes.ts";
export * from "./prometheus.ts";
export * from "./recorded_failures.ts";
export * from "./recorded_refusals.ts";
export * from "./recorded_stacks.ts";
export * from "./recorded_owner.ts";
export { withoutCredentials } from "./recorded_release.ts";
export * from "./runs.ts";
export type { RunStore } from "./run_store.ts";
export * from "./shown_trees.ts";
export * from "./stops_of_job.ts";
export { type StackFigures } from "./stack_families.ts";
