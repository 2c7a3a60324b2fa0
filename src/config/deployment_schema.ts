import * as z from "zod";
import {
  BUILD_DEFAULTS,
  DEPLOYMENT_DEFAULTS,
  DESTROY_DEFAULTS,
  DISCOVERY_DEFAULTS,
} from "./deployment_defaults.ts";
import {
  choice,
  closed,
  duration,
  field,
  flag,
  scalar,
  scalarMap,
  scalars,
  whole,
} from "./schema_words.ts";
import { secretReferenceSchema, secretStore } from "./secret_reference_schema.ts";
import { reconciliation } from "./reconciliation_schema.ts";

const build = closed({
  args: field(scalarMap(), "Build-time arguments."),
  force_image_pull: field(flag(), "Always try to pull newer base images."),
  quiet: field(flag(), "Suppress the output of builds."),
  no_cache: field(flag(), "Build without the cache."),
}, BUILD_DEFAULTS);

const destroy = closed({
  enabled: field(flag(), "Remove the deployment and its resources."),
  remove_volumes: field(
    flag(),
    "Remove its volumes too, and what it wrote to relative mounts; always on in swarm mode.",
  ),
  remove_images: field(flag(), "Remove its images too; not supported in swarm mode."),
}, DESTROY_DEFAULTS);

const autoDiscovery = closed({
  enabled: field(flag(), "Find the compose projects below the working directory and deploy each."),
  depth: field(whole(0), "Levels of directories to look at; 0 is all."),
  delete: field(flag(), "Remove discovered deployments that the repository no longer has."),
  remove_volumes: field(
    flag(),
    "Remove the volumes of those as well, and what they wrote to relative mounts.",
  ),
  remove_images: field(flag(), "Remove the images of those as well."),
}, DISCOVERY_DEFAULTS);

const RETENTION = "revisions kept per resource besides the active one; -1 keeps all. Unset, the " +
  "global setting applies.";

const swarm = z.strictObject({
  enabled: field(
    flag(),
    "Selects swarm mode, or refuses it; unset, the container context decides.",
  ),
  config_retention: field(whole(-1), `Old swarm config ${RETENTION}`),
  secret_retention: field(whole(-1), `Old swarm secret ${RETENTION}`),
});

/** One item of `oci.keyless_identities`. */
const keylessIdentity = z.strictObject({
  issuer: field(scalar(), "Trusted OIDC issuer."),
  subject: field(scalar(), "Exact trusted identity."),
  subject_regexp: field(scalar(), "Regular expression for trusted identities."),
});

const oci = z.strictObject({
  verify: field(flag(), "Verify signatures; cannot switch off what is on globally."),
  keyless_identities: field(
    z.array(keylessIdentity),
    "Trusted identities of signatures without a key, instead of the global ones.",
  ),
  public_keys: field(scalars(), "Public keys to verify with, instead of the global ones."),
  ignore_tlog: field(flag(), "Skip the transparency log."),
});

const retry = z.strictObject({
  limit: field(
    whole(0),
    "Automatic retries after the original attempt; unset is unlimited, 0 is none.",
  ),
  delay: field(duration(0), "Least time between a failure and the next automatic retry."),
});

/** A section that may be a bare boolean, which sets `enabled` and leaves the other defaults. */
function switchable<S extends z.ZodType>(schema: S) {
  return z.union([flag(), schema], { error: "expected true, false or a mapping" });
}

/** One deployment configuration as written; the source of decoder, JSON Schema and reference. */
export const deploymentSchema = closed({
  name: field(
    scalar(),
    "Name of the compose project or stack; needed unless auto-discovery is on.",
  ),
  source: field(choice(["git", "oci", ""]), "Kind of source to deploy from."),
  version: field(scalar(), "Version of the configuration; artifacts (source oci) need service.v1."),
  repository_url: field(
    scalar(),
    "Git URL of another repository to deploy; empty is the one with this file.",
  ),
  webhook_filter: field(
    scalar(),
    "Regular expression (RE2) for the branch or tag of a webhook, in full or short form.",
  ),
  reference: field(
    scalar(),
    "Branch or tag to deploy, in full or short form; empty is the one of the trigger.",
  ),
  working_dir: field(scalar(), "Directory of the deployment, relative to the root of the source."),
  context: field(scalar(), "Container context; empty is the default one."),
  compose_files: field(
    scalars().min(1),
    "Compose files, merged in this order; every one must exist. Unset, the first that exists of " +
      "the default names, or else docker-compose.yaml or docker-compose.yml.",
  ),
  environment: field(scalarMap(), "Variables for interpolation in the compose files."),
  env_files: field(
    scalars(),
    "Dotenv files for interpolation, later ones win; `remote:` marks the deployed repository.",
  ),
  remove_orphans: field(flag(), "Remove containers of services the compose file no longer has."),
  prune_images: field(flag(), "Remove images that no service and no kept release uses any more."),
  swarm: field(swarm, "Swarm mode."),
  wait_running_jobs: field(flag(), "Wait for running scheduled jobs before deploying."),
  force_recreate: field(
    flag(),
    "Recreate all containers at each change of the stack's inputs, and when a person asks for a run.",
  ),
  force_image_pull: field(flag(), "Look for a newer image of each tag at every deployment."),
  timeout: field(duration(1), "Longest wait for the deployment, at most 24h."),
  build: field(build, "Options of builds."),
  git_depth: field(
    whole(0),
    "Commits of history to fetch; 0 is the global setting GIT_CLONE_DEPTH.",
  ),
  destroy: field(switchable(destroy), "Remove the deployment instead of deploying it."),
  profiles: field(scalars(), "Compose profiles to enable."),
  external_secrets: field(
    z.record(z.string(), secretReferenceSchema),
    "Variables whose values come from the secret provider.",
  ),
  external_secrets_files: field(
    scalars(),
    "YAML files of such variables; the ones written here win over them.",
  ),
  auto_discovery: field(switchable(autoDiscovery), "Deploy every compose project found."),
  retry: field(
    retry,
    "Automatic retries of a failed release; unset is unlimited, with growing pauses.",
  ),
  pause: field(
    flag(),
    "Do not update the deployment; what is missing of the release that is deployed still comes back.",
  ),
  reconciliation: field(switchable(reconciliation), "Reaction to container events."),
  oci: field(oci, "Signature verification of this target; honoured in trusted configuration only."),
}, DEPLOYMENT_DEFAULTS);

/** A deployment configuration after decoding: scalars are text, `null` is gone. */
export type WrittenDeployment = z.output<typeof deploymentSchema>;

/** The objects of the schema by the name of their section, for the reference. */
export const DEPLOYMENT_SECTIONS = {
  swarm,
  build,
  destroy,
  "external_secrets (object form)": secretStore,
  auto_discovery: autoDiscovery,
  retry,
  reconciliation,
  oci,
  "oci.keyless_identities (item)": keylessIdentity,
} as const;
