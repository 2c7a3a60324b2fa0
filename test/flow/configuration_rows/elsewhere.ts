/** A test that shows what a field does, and that is too large to be a row. */
export interface Elsewhere {
  readonly file: string;
  /** Text of the test's title as it is in the file. */
  readonly title: string;
  readonly covers: readonly string[];
}

/** Effects that need an engine that builds, a store of secrets, another repository, or automatic polls. */
export const ELSEWHERE: readonly Elsewhere[] = [
  row(
    "flow/other_repository_test.ts",
    "deploys the other repository with this one's configuration; both are inputs",
    "repository_url",
  ),
  row(
    "flow/webhooks_test.ts",
    "whose reference no filter lets pass leaves the stack alone, and the next one is let through",
    "webhook_filter",
  ),
  row("flow/git_depth_test.ts", "git_depth over the setting", "git_depth"),
  row(
    "flow/several_deployments_test.ts",
    "leaves everything as it is while a job runs, and deploys when it has ended",
    "wait_running_jobs",
  ),
  row("flow/several_deployments_test.ts", "false does not wait", "wait_running_jobs"),
  row(
    "flow/images_test.ts",
    "a changed build context or argument rebuilds and replaces exactly its service",
    "build.args",
  ),
  row(
    "flow/images_test.ts",
    "no_cache builds everything anew, without it the cache is used",
    "build.no_cache",
  ),
  row(
    "flow/registry_test.ts",
    "build.force_image_pull fetches the base image whose tag moved",
    "build.force_image_pull",
  ),
  row(
    "unit/deploy/model_test.ts",
    "build --pull --no-cache --quiet --build-arg",
    "build.quiet",
  ),
  row(
    "flow/external_secrets_test.ts",
    "reach the containers, and a rotated one replaces exactly the services that use it",
    "external_secrets",
    "external_secrets_files",
  ),
  row(
    "flow/webhook_store_test.ts",
    "of a webhook store reach the containers, with the fields of the reference",
    "external_secrets.store_ref",
    "external_secrets.remote_ref",
  ),
  row(
    "flow/retry_test.ts",
    "retry.limit 0: never again by itself, also after a restart; by hand once each time",
    "retry.limit",
  ),
  row(
    "flow/retry_test.ts",
    "retry.delay: not before the delay is over; retry_at says when, in the run and in words",
    "retry.delay",
  ),
];

function row(file: string, title: string, ...covers: readonly string[]): Elsewhere {
  return { file: `test/${file}`, title, covers };
}
