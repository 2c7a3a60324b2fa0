/**
 * Make it so: render a release with compose, observe what runs, carry a plan out, wait until it is
 * healthy, put the previous release back when it is not, remove and prune. Decisions come in as
 * plans; nothing here decides what should run.
 */
export { adoptContainers } from "./adopt_containers.ts";
export * from "./anothers_resources.ts";
export * from "./asking_engine.ts";
export {
  type Backend,
  type Changes,
  composeBackend,
  type ComposeStarts,
  type FailedUpdate,
} from "./backend.ts";
export { withEmptyBeginnings } from "./begins_empty.ts";
export type { Neighbours } from "./data_elsewhere.ts";
export { withOldData } from "./bring_old_data.ts";
export { type Halts, idleOrphans, isDown } from "./left_orphans.ts";
export * from "./changed_networks.ts";
export * from "./changed_volumes.ts";
export * from "./compose/program.ts";
export { type ComposeCall } from "./compose/compose_parts.ts";
export * from "./compose/command.ts";
export * from "./compose/environment.ts";
export * from "./compose/find_program.ts";
export * from "./destroy.ts";
export * from "./engine_away.ts";
export * from "./files_record.ts";
export { filesOwner, keepWritten, keptDataOwner, writtenData } from "./kept_data.ts";
export { findingOnce } from "./finding_once.ts";
export { type Glance, type Glances, glancesOf, look } from "./glance.ts";
export * from "./compose/half_replaced.ts";
export * from "./jobs/called_job.ts";
export * from "./jobs/end_runs.ts";
export type { RunEndParts } from "./jobs/end_run.ts";
export * from "./jobs/find_jobs.ts";
export { type FoundJob, withoutLabels } from "./jobs/found_job.ts";
export { containerJobs } from "./jobs/container_jobs.ts";
export { ownerOfRun } from "./jobs/execution.ts";
export { jobOfRun, notedJob } from "./jobs/left_run.ts";
export { type InTurn, JobRun, type JobRunFacts } from "./jobs/job_run.ts";
export { swarmJobs } from "./jobs/swarm_jobs.ts";
export * from "./kept_services.ts";
export * from "./bounded_looks.ts";
export * from "./look_for_drift.ts";
export * from "./mark.ts";
export { withMovedMounts } from "./moved_mounts.ts";
export * from "./new_networks.ts";
export * from "./observe.ts";
export * from "./others_came.ts";
export * from "./place_files.ts";
export { LARGEST_COPY } from "./file_batches.ts";
export * from "./projects.ts";
export { type AskedAction, type LockParts, PROJECT_ACTIONS, waitsFor } from "./within_lock.ts";
export * from "./point_tags.ts";
export { startAgain } from "./put_back.ts";
export { runningModel } from "./running_model.ts";
export * from "./readiness.ts";
export { removeWritten } from "./remove_written.ts";
export { type DiskMounts, diskMounts, onDisk } from "./disk_places.ts";
export { lastLines } from "./last_lines.ts";
export { requireLiveInside } from "./live_inside.ts";
export { type TemplatePaths, templatePaths } from "./template_paths.ts";
export { type Looked, lookingEngine } from "./looking_engine.ts";
export * from "./sparing_engine.ts";
export { type KnownMount, requireMountsInside } from "./mounts_inside.ts";
export { liveHolds } from "./copy_old_data.ts";
export { LiveDirectory } from "./live_directory.ts";
export { RealTree } from "./real_tree.ts";
export * from "./compose/registry_hint.ts";
export { mergedLogins } from "./compose/registry_logins.ts";
export * from "./compose/renders_at_once.ts";
export * from "./rollout_words.ts";
export * from "./rollout.ts";
export * from "./running_jobs.ts";
export * from "./stack_files.ts";
export { withUpdateOrders } from "./update/update_orders.ts";
export { volumesOfTasks } from "./swarm/volumes_of_tasks.ts";
export { volumesThere } from "./volumes_there.ts";
export * from "./wait_healthy.ts";
export { watchPeriod } from "./update/update_config.ts";
export { containerWish } from "./engine/container_body.ts";
export type { ContainerParts } from "./engine/container_parts.ts";
export { containerLabels } from "./engine/container_labels.ts";
export { requirePlainHooks } from "./engine/hook_images.ts";
export { fieldDrift } from "./engine/field_drift.ts";
export { notMapped, notMappedResource, SERVICE_KEYS } from "./engine/mapped_keys.ts";
export { lacksExternal, requireExternals } from "./engine/ensure_resources.ts";
export { createEngineBackend } from "./engine/engine_backend.ts";
export { proxyVariables } from "./engine/proxy_variables.ts";
export { requireShortUpdates } from "./update/short_updates.ts";
export { withPlainDollars } from "./engine/plain_dollars.ts";
export { destroyServices } from "./swarm/destroy_services.ts";
export { credentialHelper, helperConfiguration, registryAuth } from "./swarm/registry_auth.ts";
export { requireStack } from "./swarm/stack_of.ts";
export { requireDataHere } from "./swarm/require_data_here.ts";
export { requireStackParts } from "./swarm/require_stack_parts.ts";
export { STACK_ACTIONS, type StackAction } from "./swarm/stack_actions.ts";
export { Stacks } from "./swarm/stacks.ts";
export {
  type StackActionResult,
  type StackControl,
  type StackService,
} from "./swarm/stack_service.ts";
export { lookAtServices } from "./swarm/look_at_services.ts";
export { rolloutStack } from "./swarm/stack_rollout.ts";
export { STACK_LABELS } from "./swarm/stack_parts.ts";
export type { SwarmParts } from "./swarm/stack_words.ts";
export { meaninglessIn } from "./swarm/swarm_keys.ts";
export { tarOf } from "./engine/tar.ts";
export { type InjectedFile, injectedFiles } from "./engine/injected_files.ts";
export { wantedNetworks, wantedVolumes } from "./engine/resource_bodies.ts";
