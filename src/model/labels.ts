/**
 * The labels Stackwright writes and reads. All but {@link LABELS.digest} are stable between
 * releases of a stack: compose hashes labels, so a changed label would recreate its container.
 */
export const LABELS = {
  /** Marks objects that Stackwright made; the value is {@link MANAGER}. The ownership test. */
  manager: "stackwright.manager",
  /** Stack name. */
  deployment: "stackwright.deployment",
  /** Configuration target the stack was deployed from; empty for the default file. */
  target: "stackwright.target",
  /** `git` or `oci`. */
  source: "stackwright.source",
  /** `host/owner/repo` of the deployed repository. */
  sourceName: "stackwright.source.name",
  /** `host/owner/repo` of the repository with the configuration; on containers only. */
  sourceConfiguration: "stackwright.source.configuration",
  /** `true` on the containers of a stack that was discovered. */
  autoDiscovery: "stackwright.auto_discovery",
  /** `true` on a network whose containers may ask for certain addresses. */
  keepsAddresses: "stackwright.network.keeps_addresses",
  /** Keyed digest of everything that can change the container of one service. */
  digest: "stackwright.digest",
  /** Keyed digest of the files that a task of a swarm sees through mounts; on containers only. */
  content: "stackwright.content",
  /** On a volume with copies of files, and on the container that copies them: the volume's name. */
  files: "stackwright.files",
  /** Name of a swarm config or secret without the digest at the end. */
  name: "stackwright.name",
  /** Id of the run, on a container that was made for one run of a job. */
  jobRun: "stackwright.job.run",
  /** Branch of the owner in whose name a run was made, where that has one; on what was made for the run. */
  jobReference: "stackwright.job.reference",
  /** Containers to start when the run has ended, as JSON; on the container of the run. */
  jobStops: "stackwright.job.stops",
  /** Name of the job's own service, on a service that was made for one run. */
  jobOf: "stackwright.job.of",
  /** Tasks of one run of the job, or `global`; on the service of a job in a swarm. */
  jobTasks: "stackwright.job.tasks",
} as const;

/** Value of the manager label. */
export const MANAGER = "stackwright";

/** True when Stackwright made an object, by its labels. */
export function isOurs({ labels }: { readonly labels: Readonly<Record<string, string>> }): boolean {
  return labels[LABELS.manager] === MANAGER;
}

/** The labels of compose that Stackwright relies on. */
export const COMPOSE_LABELS = {
  project: "com.docker.compose.project",
  service: "com.docker.compose.service",
  number: "com.docker.compose.container-number",
  oneOff: "com.docker.compose.oneoff",
  version: "com.docker.compose.version",
  network: "com.docker.compose.network",
  volume: "com.docker.compose.volume",
  image: "com.docker.compose.image",
  configHash: "com.docker.compose.config-hash",
  dependsOn: "com.docker.compose.depends_on",
  workingDirectory: "com.docker.compose.project.working_dir",
  configFiles: "com.docker.compose.project.config_files",
  /** On a container that is about to replace another one. */
  replaces: "com.docker.compose.replace",
} as const;

/**
 * Label of a swarm's containers: the id of the service. Empty on Stackwright's containers: an image
 * committed from a task has it, and would make them look like tasks.
 */
export const SWARM_TASK = "com.docker.swarm.service.id";

/** Label that assigns an object to a swarm stack, which is destroyed together with it. */
export const STACK_NAMESPACE = "com.docker.stack.namespace";

/** Labels on a service by which its author changes how it is deployed. */
export const BEHAVIOUR_LABELS = {
  autostart: "stackwright.deployment.autostart",
  oneShot: "stackwright.deployment.one_shot",
  recreateIgnore: "stackwright.deployment.recreate.ignore",
  recreateIgnoreSignal: "stackwright.deployment.recreate.ignore.signal",
  /** `start-first`: not being able to replace the service in that order is an error. */
  updateRequire: "stackwright.update.require",
  /** `true`: old and new containers may write to the service's volumes at the same time. */
  updateSharesWrites: "stackwright.update.shares_writes",
  jobEnabled: "stackwright.job.enabled",
  jobWaitRunning: "stackwright.job.wait_running_jobs",
  jobSchedule: "stackwright.job.schedule",
  jobMode: "stackwright.job.execution_mode",
  jobSkipRunning: "stackwright.job.skip_running",
  jobNotifyOn: "stackwright.job.notify_on",
  jobStopServices: "stackwright.job.stop_services",
  jobStopTimeout: "stackwright.job.stop_services.timeout",
  /** Number of tasks that a one-off run in a swarm has. */
  jobSwarmReplicas: "stackwright.job.swarm.replicas",
  /** The longest that a run may take; the peer has no such label. */
  jobMaxDuration: "stackwright.job.max_duration",
  /** Instance of doco-cd that alone runs the job; Stackwright is none of them. */
  jobOwner: "stackwright.job.owner",
} as const;

/** True for the labels of a service that is a scheduled job. */
export function isJobService(labels: Readonly<Record<string, string>>): boolean {
  const text = behaviourLabel(labels, BEHAVIOUR_LABELS.jobEnabled)?.trim().toLowerCase() ?? "";
  return ["1", "t", "true"].includes(text);
}

/** Part of the names of one-off containers and services that run a job. */
export const JOB_INFIX = "-stackwright-job-";

/** Prefix of doco-cd for {@link BEHAVIOUR_LABELS}; honoured where Stackwright's label is absent. */
export const MIGRATION_LABEL_PREFIX = "cd.doco.";

/** The value of a behaviour label: Stackwright's, else doco-cd's. */
export function behaviourLabel(
  labels: Readonly<Record<string, string>>,
  label: string,
): string | undefined {
  return labels[writtenLabel(labels, label)];
}

/** The name under which {@link behaviourLabel} finds a label; Stackwright's where it is absent. */
export function writtenLabel(labels: Readonly<Record<string, unknown>>, label: string): string {
  const old = label.replace(/^stackwright\./, MIGRATION_LABEL_PREFIX);
  return label in labels || !(old in labels) ? label : old;
}

/** Label of doco-cd: the URL that it deployed something from. */
export const PEER_URL = `${MIGRATION_LABEL_PREFIX}source.url`;

/** Label of doco-cd: the branch or tag that it deployed something from. */
export const PEER_REFERENCE = `${MIGRATION_LABEL_PREFIX}deployment.target.ref`;

/** The repository that doco-cd deployed something from, without credentials; empty without its label. */
export function peerUrl(labels: Readonly<Record<string, string>>): string {
  return (labels[PEER_URL] ?? "").replace(/\/\/[^/@]*@/, "//");
}
