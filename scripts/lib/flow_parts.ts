/** What ./scripts/test knows of single flows: which only `all` runs, and what they cost. */
import { basename } from "node:path";

/** Approximate processor seconds of the flows that take more than {@link USUAL_COST}. */
const COSTS: Readonly<Record<string, number>> = {
  bad_input_test: 8,
  call_failures_test: 90,
  canaries_test: 22,
  canary_broken_files_test: 20,
  canary_providers_test: 10,
  client_away_test: 12,
  contexts_test: 7,
  cut_off_test: 13,
  design_traps_test: 9,
  discovery_test: 9,
  examples_test: 14,
  failed_removal_test: 6,
  fields_test: 8,
  former_owner_test: 6,
  giving_way_test: 8,
  images_test: 10,
  interpolation_test: 10,
  no_op_test: 7,
  old_data_test: 12,
  one_engine_twice_test: 13,
  other_repository_test: 8,
  others_volumes_test: 7,
  ownership_test: 8,
  path_safety_test: 12,
  plan_command_test: 9,
  plan_is_apply_test: 11,
  random_walk_test: 14,
  removal_walk_test: 12,
  retry_test: 17,
  rollback_command_test: 13,
  rows_test: 33,
  runs_test: 9,
  separate_authors_test: 7,
  stacks_test: 12,
  tree_collection_test: 9,
  webhooks_test: 6,
};
const USUAL_COST = 5;

/**
 * Flows that only `all` runs, without `_test.ts`: each follows one corner of what another flow shows on
 * its main way, or what units show of the same decision, or is long. None is the only one about a promise of
 * docs/security.md.
 */
export const CORNERS: ReadonlySet<string> = new Set([
  "adoption_fails",
  "adoption_plan",
  "anonymous_volume",
  "another_data_dir",
  "asked_once",
  "bad_input",
  "behaviour_labels",
  "build_caches",
  "canary_broken_files",
  "canary_engines",
  "canary_providers",
  "canary_settings",
  "client_away",
  "commands_are_runs",
  "compose_by_hand",
  "configuration_base_dir",
  "contexts",
  "crash_loop",
  "cut_off",
  "cut_output",
  "data_ahead",
  "design_traps",
  "design_traps_time",
  "destroy_of_peers",
  "ended_since",
  "engine_away",
  "engine_events",
  "engine_settings",
  "examples",
  "failed_removal",
  "field_drift",
  "fields",
  "followers",
  "force_recreate",
  "former_owner",
  "git_depth",
  "giving_way",
  "hand_over",
  "held_removal",
  "images",
  "inactive_profile",
  "interpolation",
  "kept_images",
  "kept_services",
  "killed_plan",
  "late_run",
  "late_stop",
  "late_swarm",
  "linked_mounts",
  "look_by_hand_over",
  "lost_namespace",
  "metrics",
  "migration",
  "moved_context",
  "moved_names",
  "moved_on",
  "moved_stack",
  "old_data",
  "one_engine_twice",
  "one_off",
  "pin_race",
  "plan_is_apply",
  "poll_rounds",
  "prepare_then_touch",
  "random_walk",
  "reconciled_stacks",
  "reconciliation",
  "reconciliation_by_hand_over",
  "reconciliation_events",
  "recreate_ignore",
  "registry",
  "removal_walk",
  "renamed_service",
  "resumed",
  "resumed_destroy",
  "retry",
  "rewritten_peers",
  "running_jobs",
  "runs",
  "same_files",
  "secrets_after_restart",
  "several_deployments",
  "shared_build",
  "side_images",
  "stale_files",
  "storm",
  "superseded",
  "sync_windows",
  "taken_back",
  "taken_port",
  "tree_collection",
  "two_data_dirs",
  "two_processes",
  "two_targets",
  "unaffected",
  "watch",
  "watching",
  "webhook_store",
]);

/** Of each part about as much, unless one file takes more: when who comes last has a lane, little is left. */
const COST_OF_PART = 50;

/** Whether a flow is about a corner, so that only `all` runs it. */
export function isOfCorner(file: string): boolean {
  return CORNERS.has(basename(file, "_test.ts"));
}

/** Files in parts of about equal cost, the dearest part first; no part where there is no file. */
export function partsOf(files: readonly string[]): string[][] {
  const whole = files.map(costOf).reduce((sum, cost) => sum + cost, 0);
  const parts = dealOut(files, Math.max(1, Math.round(whole / COST_OF_PART)));
  return parts.filter((part) => part.length > 0);
}

function costOf(file: string): number {
  return COSTS[basename(file, ".ts")] ?? USUAL_COST;
}

/** Files in `count` groups of about equal cost: each file, the longest first, joins the cheapest group. */
function dealOut(files: readonly string[], count: number): string[][] {
  const groups = Array.from({ length: count }, () => ({ files: [] as string[], cost: 0 }));
  for (const file of [...files].sort((a, b) => costOf(b) - costOf(a))) {
    const [least] = groups.toSorted((a, b) => a.cost - b.cost);
    least?.files.push(file);
    if (least !== undefined) least.cost += costOf(file);
  }
  return groups.toSorted((a, b) => b.cost - a.cost).map((each) => each.files);
}
