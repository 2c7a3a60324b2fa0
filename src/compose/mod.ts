/**
 * The meaning of a rendered compose model: its paths, digests, expectations, claims and secrets,
 * and the release made from it. Pure: reads no file, runs no program and calls no engine.
 */
export * from "./built_names.ts";
export * from "./claims.ts";
export * from "./clashing.ts";
export * from "./configuration_digest.ts";
export * from "./dotenv.ts";
export * from "./engine_age.ts";
export * from "./expectation.ts";
export * from "./files_volumes.ts";
export * from "./follows.ts";
export * from "./host_paths.ts";
export { type FollowedPath, type FollowedPaths } from "./followed_path.ts";
export * from "./ignored_uses.ts";
export * from "./lifecycle_hooks.ts";
export { withoutLonger } from "./contained.ts";
export * from "./live_paths.ts";
export * from "./make_release.ts";
export * from "./masked_model.ts";
export * from "./model.ts";
export * from "./model_secrets.ts";
export * from "./normal_model.ts";
export * from "./project_size.ts";
export * from "./pull_policy.ts";
export * from "./registry_secrets.ts";
export * from "./resources.ts";
export * from "./rewrite_model.ts";
export * from "./side_images.ts";
export * from "./known_templates.ts";
export * from "./start_first.ts";
export * from "./tree_paths.ts";
export { fitsTemplate, mayBecome, PROCESSES, SHOWS_PROCESSES, volumesOf } from "./volume_paths.ts";
export * from "./volumes_from.ts";
