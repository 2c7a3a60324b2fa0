import type { Deployment } from "../model/mod.ts";
import type { DeploymentDocument } from "./deployment.ts";

/** Keys an override cannot change: they decide what was discovered in the first place. */
const PROTECTED = ["source", "reference", "repository_url", "auto_discovery", "git_depth"];

/** An override applied to what was inherited. */
export interface Overridden {
  /** To be checked with `checkDeployment`, now that it is complete. */
  readonly deployment: Deployment;
  /** Keys of the override that were ignored because they are protected. */
  readonly ignored: readonly string[];
}

/**
 * Puts the override of a discovered stack on top of the inherited configuration: a key that is
 * present wins whatever its value, maps are joined name by name, lists are replaced, objects are
 * merged key by key, a bare boolean changes `enabled` alone. Nothing given is changed in place.
 */
export function overrideDeployment(base: Deployment, override: DeploymentDocument): Overridden {
  const { deployment: over, given } = override;
  const maps = {
    environment: { ...base.environment, ...over.environment },
    externalSecrets: { ...base.externalSecrets, ...over.externalSecrets },
  };
  const reconciliation = pick(base.reconciliation, over.reconciliation, given, RECONCILIATION);
  const deployment: Deployment = {
    ...pick(base, over, given, TOP),
    ...maps,
    composeFilesGiven: given.has("compose_files") || base.composeFilesGiven,
    build: {
      ...pick(base.build, over.build, given, BUILD),
      args: { ...base.build.args, ...over.build.args },
    },
    destroy: pick(base.destroy, over.destroy, given, DESTROY),
    swarm: pick(base.swarm, over.swarm, given, SWARM),
    retry: pick(base.retry, over.retry, given, RETRY),
    reconciliation: {
      ...reconciliation,
      enabled: reconciliation.enabled && reconciliation.events.length > 0,
    },
    oci: pick(base.oci, over.oci, given, OCI),
  };
  return { deployment, ignored: PROTECTED.filter((key) => given.has(key)) };
}

type Names<T> = Readonly<Record<string, keyof T>>;

function pick<T extends object>(base: T, over: T, given: ReadonlySet<string>, names: Names<T>): T {
  const result = { ...base };
  for (const [path, key] of Object.entries(names)) {
    if (given.has(path)) result[key] = over[key];
  }
  return result;
}

const TOP: Names<Deployment> = {
  "name": "name",
  "version": "version",
  "webhook_filter": "webhookFilter",
  "working_dir": "workingDir",
  "context": "context",
  "compose_files": "composeFiles",
  "env_files": "envFiles",
  "remove_orphans": "removeOrphans",
  "prune_images": "pruneImages",
  "wait_running_jobs": "waitRunningJobs",
  "force_recreate": "forceRecreate",
  "force_image_pull": "forceImagePull",
  "timeout": "timeoutSeconds",
  "profiles": "profiles",
  "external_secrets_files": "externalSecretsFiles",
  "pause": "pause",
};
const BUILD: Names<Deployment["build"]> = {
  "build.force_image_pull": "forceImagePull",
  "build.quiet": "quiet",
  "build.no_cache": "noCache",
};
const DESTROY: Names<Deployment["destroy"]> = {
  "destroy.enabled": "enabled",
  "destroy.remove_volumes": "removeVolumes",
  "destroy.remove_images": "removeImages",
};
const SWARM: Names<Deployment["swarm"]> = {
  "swarm.enabled": "enabled",
  "swarm.config_retention": "configRetention",
  "swarm.secret_retention": "secretRetention",
};
const RETRY: Names<Deployment["retry"]> = {
  "retry.limit": "limit",
  "retry.delay": "delaySeconds",
};
const RECONCILIATION: Names<Deployment["reconciliation"]> = {
  "reconciliation.enabled": "enabled",
  "reconciliation.events": "events",
  "reconciliation.restart_timeout": "restartTimeoutSeconds",
  "reconciliation.restart_signal": "restartSignal",
  "reconciliation.restart_limit": "restartLimit",
  "reconciliation.restart_window": "restartWindowSeconds",
};
const OCI: Names<Deployment["oci"]> = {
  "oci.verify": "verify",
  "oci.keyless_identities": "keylessIdentities",
  "oci.public_keys": "publicKeys",
  "oci.ignore_tlog": "ignoreTlog",
};
