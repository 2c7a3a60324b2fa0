/**
 * Make it so: render a release with compose, observe what runs, carry a plan out, wait until it is
 * healthy, put the previous release back when it is not, remove and prune. Decisions come in as
 * plans; nothing here decides what should run.
 */
export * from "./apply_release.ts";
export * from "./changed_networks.ts";
export * from "./changed_volumes.ts";
export { clashes } from "./claims.ts";
export * from "./compose.ts";
export * from "./compose_command.ts";
export * from "./compose_environment.ts";
export * from "./compose_model.ts";
export * from "./compose_program.ts";
export * from "./destroy.ts";
export * from "./engine_away.ts";
export * from "./expectation.ts";
export * from "./files_record.ts";
export * from "./half_replaced.ts";
export * from "./host_paths.ts";
export * from "./ignored_uses.ts";
export * from "./live_paths.ts";
export * from "./make_release.ts";
export * from "./masked_model.ts";
export * from "./model_secrets.ts";
export * from "./observe.ts";
export * from "./old_data.ts";
export * from "./ownership.ts";
export * from "./projects.ts";
export { pointTags } from "./put_back.ts";
export * from "./readiness.ts";
export * from "./registry_hint.ts";
export * from "./registry_secrets.ts";
export * from "./rewrite_model.ts";
export * from "./rollout.ts";
export * from "./running_jobs.ts";
export * from "./stack_files.ts";
export * from "./tree_paths.ts";
export * from "./wait_healthy.ts";
