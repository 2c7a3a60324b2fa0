/** A test that shows what a field does or that a rule holds, and that is too large to be a row. */
export interface Elsewhere {
  /** Where the rule is written. */
  readonly rule: string;
  readonly file: string;
  /** Text of the test's title as it is in the file. */
  readonly title: string;
  /** As {@link Row.covers}. */
  readonly covers: readonly string[];
}

/** A file and what is seen there: rule, title, fields. */
type InFile = readonly (readonly [rule: string, title: string, ...covers: readonly string[]])[];

/** What needs an engine that builds, a store, another repository, webhooks, or automatic polls. */
const FILES: Readonly<Record<string, InFile>> = {
  "unit/config/rules_test.ts": [
    ["deploy.md §1.1 target", "configFileNames() refuses the target"],
    ["deploy.md §1.8 dialect", "compilePattern() refuses"],
  ],
  "unit/config/located_yaml_test.ts": [
    ["deploy.md §1.2 aliases", "parseLocatedYaml() refuses aliases that explode"],
  ],
  "unit/config/deployment_test.ts": [
    ["deploy.md §1.4", "parseDeployments() applies every default when only the name is given"],
    ["deploy.md §1.10", "parseInlineDeployments() keeps every explicit falsy value"],
  ],
  "unit/compose/model_test.ts": [
    ["interface.md §2.3", "build --pull --no-cache --quiet a", "build.quiet"],
  ],
  "flow/images_test.ts": [
    [
      "interface.md §2.3",
      "a changed build context or argument rebuilds and replaces exactly its service",
      "build.args",
    ],
    [
      "interface.md §2.3",
      "no_cache builds everything anew, without it the cache is used",
      "build.no_cache",
    ],
  ],
  "flow/registry_test.ts": [
    [
      "interface.md §2.3",
      "build.force_image_pull fetches the base image whose tag moved",
      "build.force_image_pull",
    ],
  ],
  "flow/git_depth_test.ts": [
    ["interface.md §2.1 git_depth", "git_depth over the setting", "git_depth"],
  ],
  "flow/configuration_base_dir_test.ts": [
    ["deploy.md §1.1", "is where configurations are looked for, and moves no working_dir"],
  ],
  "flow/several_deployments_test.ts": [
    [
      "interface.md §2.1 wait_running_jobs",
      "leaves everything as it is while a job runs, and deploys when it has ended",
      "wait_running_jobs",
    ],
    ["interface.md §2.1 wait_running_jobs", "false does not wait", "wait_running_jobs"],
    ["interface.md §2.1 context", "fails its deployment with one clear error", "context"],
  ],
  "flow/external_secrets_test.ts": [
    [
      "interface.md §2.1 external_secrets",
      "reach the containers, and a rotated one replaces exactly the services that use it",
      "external_secrets",
      "external_secrets_files",
    ],
    ["deploy.md §1.9", "win over environment and dotenv files", "external_secrets"],
  ],
  "flow/webhook_store_test.ts": [
    [
      "interface.md §2.5",
      "of a webhook store reach the containers, with the fields of the reference",
      "external_secrets.store_ref",
      "external_secrets.remote_ref",
    ],
  ],
  "flow/other_repository_test.ts": [
    [
      "deploy.md §1.6",
      "deploys the other repository with this one's configuration; both are inputs",
      "repository_url",
    ],
    ["deploy.md §1.6", "of this machine is refused from a repository unless the settings allow it"],
    ["deploy.md §1.6", "without the trigger's reference says what to do"],
    ["deploy.md §1.6", "may change, and the stack stays its configuration's"],
    ["deploy.md §1.6", "gives a third repository no right to destroy or replace the stack"],
    ["deploy.md §2.1", "discovers stacks in the other repository, with overrides of its own"],
  ],
  "flow/webhooks_test.ts": [
    [
      "deploy.md §1.8",
      "whose reference no filter lets pass leaves the stack alone, and the next one is let through",
      "webhook_filter",
    ],
    ["deploy.md §1.7", "about a branch leaves deployments that follow another one alone"],
  ],
  "flow/retry_test.ts": [
    [
      "interface.md §2.7",
      "retry.limit 0: never again by itself, also after a restart; by hand once each time",
      "retry.limit",
    ],
    [
      "interface.md §2.7",
      "retry.delay: not before the delay is over; retry_at says when, in the run and in words",
      "retry.delay",
    ],
  ],
  "flow/field_drift_test.ts": [
    [
      "interface.md §2.8 reconciliation",
      "is told, field by field, and is over when it is changed back",
      "reconciliation.drift",
    ],
  ],
  "flow/discovery_test.ts": [
    ["deploy.md §2.3", "a changed policy replaces no container, and counts at the next removal"],
    ["deploy.md §2.4", "a working_dir that moved away removes nothing"],
    ["deploy.md §2.4", "a stack that a document names now is no longer discovered"],
    ["deploy.md §2.4", "a paused discovery removes nothing"],
    [
      "deploy.md §2.4",
      "another reference of the same repository does not make its stacks obsolete",
    ],
    ["deploy.md §2.4", "many removals at once wait for a person"],
    ["deploy.md §2.4", "many removals at once wait for the same result of another run"],
    ["deploy.md §2.4", "an older commit of the reference removes nothing"],
  ],
};

/** Every test of {@link FILES}. */
export const ELSEWHERE: readonly Elsewhere[] = Object.entries(FILES).flatMap(([file, tests]) =>
  tests.map(([rule, title, ...covers]) => ({ rule, file: `test/${file}`, title, covers }))
);
