import * as z from "zod";
import { DRIFT_POLICIES } from "../model/mod.ts";
import { DEPLOYMENT_DEFAULTS as D } from "./deployment_defaults.ts";
import {
  choice,
  duration,
  field,
  flag,
  freeMap,
  needed,
  scalar,
  scalarMap,
  scalars,
  whole,
} from "./schema_words.ts";

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

const build = z.strictObject({
  args: field(scalarMap(), "Build-time arguments."),
  force_image_pull: field(
    flag(),
    "Always try to pull newer base images.",
    D.build.force_image_pull,
  ),
  quiet: field(flag(), "Suppress the output of builds.", D.build.quiet),
  no_cache: field(flag(), "Build without the cache.", D.build.no_cache),
});

const destroy = z.strictObject({
  enabled: field(flag(), "Remove the deployment and its resources.", D.destroy.enabled),
  remove_volumes: field(
    flag(),
    "Remove its volumes too; always on in swarm mode.",
    D.destroy.remove_volumes,
  ),
  remove_images: field(
    flag(),
    "Remove its images too; not supported in swarm mode.",
    D.destroy.remove_images,
  ),
});

const secretStore = z.strictObject({
  store_ref: needed(
    z.string({ error: "expected the name of a secret store" })
      .min(1, { error: "expected the name of a secret store, found an empty text" }),
    "Name of a webhook secret store.",
  ),
  remote_ref: field(freeMap(), "Values for the templates of the store."),
});

/** One secret reference: text for the provider, or a store with fields. */
export const secretReferenceSchema = z
  .union([scalar(), secretStore], { error: "expected a secret reference: text or a mapping" })
  .nullable();

const autoDiscovery = z.strictObject({
  enabled: field(
    flag(),
    "Find the compose projects below the working directory and deploy each.",
    D.auto_discovery.enabled,
  ),
  depth: field(whole(0), "Levels of directories to look at; 0 is all.", D.auto_discovery.depth),
  delete: field(
    flag(),
    "Remove discovered deployments that the repository no longer has.",
    D.auto_discovery.delete,
  ),
  remove_volumes: field(
    flag(),
    "Remove the volumes of those as well.",
    D.auto_discovery.remove_volumes,
  ),
  remove_images: field(
    flag(),
    "Remove the images of those as well.",
    D.auto_discovery.remove_images,
  ),
});

const retry = z.strictObject({
  limit: field(
    whole(0),
    "Automatic retries after the original attempt; unset is unlimited, 0 is none.",
  ),
  delay: field(duration(0), "Least time between a failure and the next automatic retry."),
});

/** Spellings of container actions that may start a reconciliation. */
const EVENT_WORDS = [
  "die",
  "destroy",
  "update",
  "stop",
  "kill",
  "oom",
  "unhealthy",
  "remove",
  "delete",
] as const;

const R = D.reconciliation;
const reconciliation = z.strictObject({
  enabled: field(flag(), "React to container events.", R.enabled),
  events: field(
    z.array(choice(EVENT_WORDS)),
    "Container actions that start a reconciliation; an empty list switches it off.",
    R.events,
  ),
  drift: field(
    choice(DRIFT_POLICIES),
    "What somebody changed by hand is mended, only told, or not looked for.",
    R.drift,
  ),
  restart_timeout: field(
    duration(0),
    "Time a container has to stop before it is killed during a restart.",
    R.restart_timeout,
  ),
  restart_signal: field(
    scalar(),
    "Signal that stops a container on restart; empty is the engine's default.",
    R.restart_signal,
  ),
  restart_limit: field(
    whole(0),
    "Restarts of an unhealthy container within the window before they are suppressed; 0 is no limit.",
    R.restart_limit,
  ),
  restart_window: field(duration(0), "Window of the restart limit.", R.restart_window),
});

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

/** `true` and `false` set `enabled` alone; everything else keeps its default. */
function switchable<S extends z.ZodType>(schema: S) {
  return z.union([flag(), schema], { error: "expected true, false or a mapping" });
}

/**
 * One deployment configuration as it is written. Every object is closed. The
 * source of the decoder, of the JSON Schema and of the reference.
 */
export const deploymentSchema = z.strictObject({
  name: field(
    scalar(),
    "Name of the compose project or stack; needed unless auto-discovery is on.",
  ),
  source: field(choice(["git", "oci", ""]), "Kind of source to deploy from.", D.source),
  version: field(
    scalar(),
    "Version of the configuration; artifacts (source oci) need service.v1.",
    D.version,
  ),
  repository_url: field(
    scalar(),
    "Git URL of another repository to deploy; empty is the one with this file.",
    D.repository_url,
  ),
  webhook_filter: field(
    scalar(),
    "Regular expression (RE2) for the branch or tag of a webhook, in full or short form.",
    D.webhook_filter,
  ),
  reference: field(
    scalar(),
    "Branch or tag to deploy, in full or short form; empty is the one of the trigger.",
    D.reference,
  ),
  working_dir: field(
    scalar(),
    "Directory of the deployment, relative to the root of the source.",
    D.working_dir,
  ),
  context: field(scalar(), "Container context; empty is the default one.", D.context),
  compose_files: field(
    scalars().min(1),
    "Compose files, merged in this order; every one must exist. Unset, the first that exists of " +
      "the default names.",
    D.compose_files,
  ),
  environment: field(scalarMap(), "Variables for interpolation in the compose files."),
  env_files: field(
    scalars(),
    "Dotenv files for interpolation, later ones win; `remote:` marks the deployed repository.",
    D.env_files,
  ),
  remove_orphans: field(
    flag(),
    "Remove containers of services the compose file no longer has.",
    D.remove_orphans,
  ),
  prune_images: field(flag(), "Remove images no service uses any more.", D.prune_images),
  swarm: field(swarm, "Swarm mode."),
  wait_running_jobs: field(
    flag(),
    "Wait for running scheduled jobs before deploying.",
    D.wait_running_jobs,
  ),
  force_recreate: field(
    flag(),
    "Recreate containers even when nothing changed.",
    D.force_recreate,
  ),
  force_image_pull: field(
    flag(),
    "Look for a newer image of each tag at every deployment.",
    D.force_image_pull,
  ),
  timeout: field(duration(1), "Longest wait for the deployment, at most 24h.", D.timeout),
  build: field(build, "Options of builds."),
  git_depth: field(
    whole(0),
    "Commits of history to fetch; 0 is the global setting GIT_CLONE_DEPTH.",
    D.git_depth,
  ),
  destroy: field(switchable(destroy), "Remove the deployment instead of deploying it."),
  profiles: field(scalars(), "Compose profiles to enable.", D.profiles),
  external_secrets: field(
    z.record(z.string(), secretReferenceSchema),
    "Variables whose values come from the secret provider.",
  ),
  external_secrets_files: field(
    scalars(),
    "YAML files of such variables; the ones written here win over them.",
    D.external_secrets_files,
  ),
  auto_discovery: field(switchable(autoDiscovery), "Deploy every compose project found."),
  retry: field(
    retry,
    "Automatic retries of a failed release; unset is unlimited, with growing pauses.",
  ),
  pause: field(
    flag(),
    "Do not update the deployment; what is missing of the release that is deployed still comes back.",
    D.pause,
  ),
  reconciliation: field(switchable(reconciliation), "Reaction to container events."),
  oci: field(oci, "Signature verification of this target; honoured in trusted configuration only."),
});

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
