/**
 * Parses and validates texts: deployment configurations, poll configurations, their JSON Schema and
 * their reference. All problems of a text are reported at once, with file, line, column and key path.
 * Nothing here reads a file or knows where a text came from.
 */
export * from "./bounded_yaml.ts";
export type { Checkout } from "./checkout.ts";
export { composePaths } from "./compose_paths.ts";
export * from "./compose_references.ts";
export * from "./config_file_names.ts";
export * from "./decode.ts";
export * from "./deployment.ts";
export type { DeploymentDocument } from "./deployment_reader.ts";
export * from "./deployment_override.ts";
export { checkDeployment } from "./check_deployment.ts";
export { duplicateStacks } from "./duplicate_stacks.ts";
export { isProjectName, normaliseName } from "./project_name.ts";
export { isDefaultEnvFile, sideFilePlace } from "./side_files.ts";
export * from "./discover.ts";
export * from "./expand_discovery.ts";
export * from "./job_labels.ts";
export * from "./json_schema.ts";
export * from "./located.ts";
export * from "./located_yaml.ts";
export { editDistance, nearestKey, nearestName } from "./nearest_key.ts";
export * from "./pattern.ts";
export { plainModel } from "./plain_model.ts";
export * from "./poll_config.ts";
export { type CheckSchedule, type PollEntry } from "./poll_entry.ts";
export * from "./poll_schema.ts";
export * from "./problem_sink.ts";
export * from "./recreate_ignore.ts";
export { checkArtifactUrl, checkRepositoryUrl } from "./repository_url.ts";
export type { Checked } from "./checked.ts";
export * from "./schedule_shape.ts";
export * from "./schema_words.ts";
export * from "./secret_file.ts";
export * from "./secret_provider.ts";
export * from "./secret_stores.ts";
export * from "./source_path.ts";
export * from "./store_template.ts";
export {
  type StoreTemplate,
  type TemplateFunction,
  TemplateProblem,
  type TemplateValue,
} from "./template_value.ts";
export * from "./sync_window.ts";
export * from "./validate.ts";
export { unusedFile } from "./compose_findings.ts";
export { misspelledLabels, validateCompose } from "./validate_compose.ts";
export type { DeclaredStack } from "./validate_discovery.ts";
export * from "./webhook_filter.ts";
