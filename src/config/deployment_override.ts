import type { Deployment } from "../model/mod.ts";
import type { DeploymentDocument } from "./deployment_reader.ts";
import { REMOTE_PREFIX } from "./source_path.ts";

/** Keys an override cannot change: they decide what was discovered in the first place. */
const PROTECTED = ["source", "reference", "repository_url", "auto_discovery", "git_depth"];

/** Keys that decide where a stack is and whether it stays: no matter of another repository. */
const OF_THE_CONFIGURATION = ["destroy", "context"];

/** Keys of files, which are read beside the configuration unless they are marked with `remote:`. */
const SIDE_FILES = {
  env_files: "envFiles",
  external_secrets_files: "externalSecretsFiles",
} as const;

interface Overridden {
  /** Complete, but not yet checked: pass it to `checkDeployment`. */
  readonly deployment: Deployment;
  /** Keys of the override that were ignored because they are protected from its author. */
  readonly ignored: readonly string[];
}

/**
 * Puts the override of a discovered stack on top of the inherited configuration: a key that is
 * present wins whatever its value, maps are joined name by name, lists are replaced, objects are
 * merged key by key, a bare boolean changes `enabled` alone. Nothing given is changed in place.
 *
 * An override that `isElsewhere`, in another repository than the configuration, can neither destroy
 * the stack nor choose its context, nor name files that are read beside the configuration: its author
 * may not be allowed to read them.
 */
export function overrideDeployment(
  base: Deployment,
  override: DeploymentDocument,
  { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
): Overridden {
  const { deployment: over, given } = override;
  const guarded = [...PROTECTED, ...isElsewhere ? foreignKeys(override) : []];
  const maps = {
    environment: { ...base.environment, ...over.environment },
    externalSecrets: { ...base.externalSecrets, ...over.externalSecrets },
  };
  const isGuarded = (path: string) => guarded.includes(path.split(".")[0] ?? "");
  const changed = new Set([...given].filter((path) => !isGuarded(path)));
  const pick = <T extends object>(from: T, to: T, group = "") => picked(from, to, changed, group);
  const reconciliation = pick(base.reconciliation, over.reconciliation, "reconciliation.");
  const deployment: Deployment = {
    ...pick(base, over),
    ...maps,
    composeFilesGiven: given.has("compose_files") || base.composeFilesGiven,
    build: {
      ...pick(base.build, over.build, "build."),
      args: { ...base.build.args, ...over.build.args },
    },
    destroy: pick(base.destroy, over.destroy, "destroy."),
    swarm: pick(base.swarm, over.swarm, "swarm."),
    retry: pick(base.retry, over.retry, "retry."),
    reconciliation: {
      ...reconciliation,
      enabled: reconciliation.enabled && reconciliation.events.length > 0,
    },
    oci: pick(base.oci, over.oci, "oci."),
  };
  return { deployment, ignored: guarded.filter((key) => given.has(key)) };
}

/** Keys that an override in another repository than the configuration's cannot have as it does. */
function foreignKeys({ deployment }: DeploymentDocument): string[] {
  const files = Object.entries(SIDE_FILES)
    .filter(([, field]) => deployment[field].some((file) => !file.startsWith(REMOTE_PREFIX)))
    .map(([key]) => key);
  return [...OF_THE_CONFIGURATION, ...files];
}

/** `base` with the fields of `over` whose keys in `group` were given; `group` ends with a dot. */
function picked<T extends object>(base: T, over: T, given: ReadonlySet<string>, group: string): T {
  const result = { ...base };
  for (const path of given) {
    if (!path.startsWith(group)) continue;
    const field = fieldOf(path.slice(group.length));
    if (Object.hasOwn(over, field)) result[field as keyof T] = over[field as keyof T];
  }
  return result;
}

/** Keys of durations, which are seconds in the model. */
const DURATIONS = ["timeout", "delay", "restart_timeout", "restart_window"];

/** The field that a key has in the model. */
function fieldOf(key: string): string {
  const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return DURATIONS.includes(key) ? `${name}Seconds` : name;
}
