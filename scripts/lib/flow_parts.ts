/** What ./scripts/test knows of single flows: which only `all` runs, and what they cost. */
import { basename } from "node:path";

/** Approximate processor seconds of the flows that take more than {@link USUAL_COST}. */
const COSTS: Readonly<Record<string, number>> = {
  bad_input_test: 8,
  call_failures_test: 40,
  canaries_test: 20,
  canary_broken_files_test: 20,
  canary_providers_test: 10,
  client_away_test: 15,
  cut_off_test: 13,
  design_traps_test: 9,
  discovery_test: 9,
  examples_test: 14,
  fields_test: 8,
  images_test: 10,
  interpolation_test: 10,
  no_op_test: 7,
  old_data_test: 12,
  ownership_test: 8,
  path_safety_test: 12,
  plan_command_test: 9,
  plan_is_apply_test: 11,
  random_walk_test: 14,
  removal_walk_test: 12,
  retry_test: 14,
  rollback_command_test: 13,
  rows_test: 33,
  stacks_test: 12,
  tree_collection_test: 9,
};
const USUAL_COST = 5;

/**
 * Flows that only `all` runs, without `_test.ts`: each follows one corner of what another flow shows on
 * its main way, or what units show of the same decision. None is the only one about a promise of
 * docs/security.md.
 */
export const CORNERS: ReadonlySet<string> = new Set([
  "adoption_fails",
  "adoption_plan",
  "anonymous_volume",
  "another_data_dir",
  "asked_once",
  "behaviour_labels",
  "canary_engines",
  "canary_providers",
  "canary_settings",
  "commands_are_runs",
  "compose_by_hand",
  "configuration_base_dir",
  "crash_loop",
  "cut_off",
  "cut_output",
  "design_traps",
  "design_traps_time",
  "destroy_of_peers",
  "ended_since",
  "engine_away",
  "engine_events",
  "engine_settings",
  "examples",
  "field_drift",
  "fields",
  "followers",
  "force_recreate",
  "git_depth",
  "hand_over",
  "held_removal",
  "images",
  "inactive_profile",
  "interpolation",
  "kept_images",
  "kept_services",
  "killed_plan",
  "late_stop",
  "late_swarm",
  "look_by_hand_over",
  "lost_namespace",
  "moved_stack",
  "old_data",
  "one_off",
  "pin_race",
  "plan_is_apply",
  "poll_rounds",
  "prepare_then_touch",
  "reconciled_stacks",
  "reconciliation_events",
  "recreate_ignore",
  "registry",
  "renamed_service",
  "resumed_destroy",
  "rewritten_peers",
  "same_files",
  "several_deployments",
  "side_images",
  "stale_files",
  "superseded",
  "sync_windows",
  "taken_back",
  "taken_port",
  "tree_collection",
  "two_processes",
  "two_targets",
  "unaffected",
  "watch",
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
