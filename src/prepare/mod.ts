/**
 * Preparation: from a target to a release and its images, before any container changes. Reads and
 * guards files and variables, has compose render, pulls and builds. Has no locks, and knows no
 * running containers.
 */
export * from "./compose_call.ts";
export * from "./configuration_files.ts";
export * from "./content.ts";
export * from "./encrypted_files.ts";
export type { Host, Hosts } from "./host.ts";
export { createImages, UNTOUCHED_IMAGES } from "./images.ts";
export * from "./input_changes.ts";
export * from "./kept_release.ts";
export type { ImageIds } from "./known_images.ts";
export { lendingImages } from "./lending_images.ts";
export * from "./measure.ts";
export * from "./model_values.ts";
export * from "./not_us.ts";
export * from "./parts.ts";
export * from "./plain_source.ts";
export * from "./prepare_images.ts";
export * from "./prepare_release.ts";
export { requireNothingOurs } from "./real_mounts.ts";
export * from "./recorded_images.ts";
export { RenderedModels } from "./rendered_models.ts";
export { requireApart } from "./require_apart.ts";
export * from "./resolve_secrets.ts";
export * from "./reveal_inputs.ts";
export * from "./shown_model.ts";
export { imagesToRecord } from "./side_images.ts";
export { isSuperseded } from "./superseded.ts";
export * from "./swarm_images.ts";
export * from "./swarm_sources.ts";
export * from "./target.ts";
export { triedOnce } from "./tried_once.ts";
