import { posix } from "node:path";
import { type Deployment, stackKey, withoutEnd } from "../model/mod.ts";
import { DEPLOYMENT_DEFAULTS as D, LOOKED_UP_COMPOSE_FILES } from "./deployment_defaults.ts";
import {
  autoDiscoveryOptions,
  buildOptions,
  destroyOptions,
  ociOptions,
  reconciliationOptions,
  retryOptions,
  seconds,
  secretReferences,
  swarmOptions,
  textMap,
  texts,
} from "./deployment_options.ts";
import type { WrittenDeployment } from "./deployment_schema.ts";
import type { Report } from "./problem_sink.ts";
import { type Checked, checkRepositoryUrl } from "./repository_url.ts";
import { checkComposeFile, checkSideFile, checkWorkingDir, REMOTE_PREFIX } from "./source_path.ts";
import { compileWebhookFilter } from "./webhook_filter.ts";

/** Author of a deployment, as far as rules depend on it. */
export interface DeploymentOrigin {
  /** Settings and authenticated requests; never a repository or a webhook payload. */
  readonly trusted: boolean;
  /** Whether `file://` URLs are allowed all the same. */
  readonly allowLocalRepositoryUrl?: boolean;
  /** Whether the file has the name of the migration, where `doco.v1` means `service.v1`. */
  readonly migration?: boolean;
  /** An override of a discovered stack: what it leaves out comes from elsewhere. */
  readonly partial?: boolean;
}

/** Applies defaults and every rule of a single field; cross-field rules are {@link checkDeployment}. */
export function buildDeployment(
  written: WrittenDeployment,
  origin: DeploymentOrigin,
  report: Report,
): Deployment {
  const repositoryUrl = repositoryUrlOf(written, origin, report);
  const workingDir = accept(
    checkWorkingDir(written.working_dir ?? D.working_dir),
    "working_dir",
    report,
  ) ?? ".";
  const source = (written.source ?? D.source).trim().toLowerCase() === "oci" ? "oci" : "git";
  return {
    name: written.name ?? "",
    // A repository URL is always Git's, whatever the configuration came from.
    source: repositoryUrl === "" ? source : "git",
    version: versionOf(written, origin),
    repositoryUrl,
    webhookFilter: webhookFilterOf(written, report),
    reference: (written.reference ?? D.reference).trim(),
    workingDir,
    context: contextOf(written),
    ...composeFilesOf(written, report),
    environment: environmentOf(written, report),
    envFiles: sideFiles("env_files", written.env_files ?? D.env_files, report),
    removeOrphans: written.remove_orphans ?? D.remove_orphans,
    pruneImages: written.prune_images ?? D.prune_images,
    swarm: swarmOptions(written.swarm),
    waitRunningJobs: written.wait_running_jobs ?? D.wait_running_jobs,
    forceRecreate: written.force_recreate ?? D.force_recreate,
    forceImagePull: written.force_image_pull ?? D.force_image_pull,
    timeoutSeconds: seconds(
      written.timeout ?? D.timeout,
      1,
      (why) => report("timeout", why),
      LONGEST_TIMEOUT,
    ),
    build: buildOptions(written.build),
    gitDepth: written.git_depth ?? D.git_depth,
    destroy: destroyOptions(written.destroy),
    profiles: texts(written.profiles ?? D.profiles),
    externalSecrets: secretReferences(written.external_secrets),
    externalSecretsFiles: sideFiles(
      "external_secrets_files",
      written.external_secrets_files ?? D.external_secrets_files,
      report,
    ),
    autoDiscovery: autoDiscoveryOptions(written.auto_discovery),
    retry: retryOptions(written.retry, report),
    pause: written.pause ?? D.pause,
    reconciliation: reconciliationOptions(written.reconciliation, report),
    oci: ociOptions(origin.trusted ? written.oci : undefined, report),
  };
}

/**
 * The rules that need more than one field, for a deployment that is complete: after decoding, and
 * again after an override was merged into it.
 */
export function checkDeployment(deployment: Deployment, report: Report): void {
  checkName(deployment, report);
  const { restartLimit, restartWindowSeconds } = deployment.reconciliation;
  if (restartLimit > 0 && restartWindowSeconds === 0) {
    report(
      "reconciliation.restart_window",
      "expected more than 0s while restart_limit is not 0; set restart_limit: 0 for no limit",
    );
  }
  // A discovered stack brings its own working directory; its files are judged when it is known.
  if (!deployment.autoDiscovery.enabled) checkSideFilesInside(deployment, report);
}

function checkName({ name, autoDiscovery }: Deployment, report: Report): void {
  if (name === "") {
    if (!autoDiscovery.enabled) {
      report("name", 'the key "name" is required, unless auto_discovery is enabled');
    }
    return;
  }
  if (isProjectName(name)) return;
  const suggestion = normaliseName(name);
  report(
    "name",
    `${
      JSON.stringify(name.slice(0, 60))
    } is no compose project name: lower-case letters, digits, ` +
      `- and _, starting with a letter or digit` +
      (name.length > LONGEST_NAME ? `, at most ${LONGEST_NAME}` : "") +
      (suggestion === "" ? "" : `; write "${suggestion}"`),
  );
}

/** A day: who waits holds a turn that all deployments share, and a repository says how long. */
const LONGEST_TIMEOUT = 24 * 60 * 60;

/** Signs of a name: it becomes part of those of containers, and a directory. */
const LONGEST_NAME = 128;

/** Whether compose accepts `name` for a project, and disks for a directory. */
export function isProjectName(name: string): boolean {
  return name.length <= LONGEST_NAME && /^[a-z0-9][a-z0-9_-]*$/.test(name);
}

/** The project name nearest to `name`, empty when nothing of it can be used. */
export function normaliseName(name: string): string {
  const usable = name.trim().toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^[_-]+/, "");
  return withoutEnd(usable, "-").slice(0, 60);
}

function checkSideFilesInside(deployment: Deployment, report: Report): void {
  const lists = {
    env_files: deployment.envFiles,
    external_secrets_files: deployment.externalSecretsFiles,
  };
  for (const [key, files] of Object.entries(lists)) {
    for (const [index, file] of files.entries()) {
      accept(checkSideFile(file, sideFileBase(deployment, file)), `${key}[${index}]`, report);
    }
  }
}

/**
 * The directory a dotenv or secrets file starts in: the working directory of the deployed
 * repository, or the root of the configuration's repository when that is another one.
 */
export function sideFileBase(deployment: Deployment, file: string): string {
  const elsewhere = deployment.repositoryUrl !== "" && !file.startsWith("remote:");
  return elsewhere ? "." : deployment.workingDir;
}

/** Place of a dotenv or secrets file of a deployment. */
export interface SideFilePlace {
  /** The source of the configuration, or the one that is deployed; often they are the same. */
  readonly from: "configuration" | "deployed";
  /** Relative to the root of that source. */
  readonly path: string;
}

/** The place of an entry of `env_files` or `external_secrets_files`. */
export function sideFilePlace(deployment: Deployment, file: string): SideFilePlace {
  const isRemote = file.startsWith(REMOTE_PREFIX);
  const bare = isRemote ? file.slice(REMOTE_PREFIX.length) : file;
  return {
    from: deployment.repositoryUrl !== "" && !isRemote ? "configuration" : "deployed",
    path: posix.join(sideFileBase(deployment, file), bare),
  };
}

/** Whether a dotenv file may be missing: the one that is read without being asked for. */
export function isDefaultEnvFile(file: string): boolean {
  return file === ".env";
}

/** The first stack of each (context, name) that is there more than once, with all its places. */
export function duplicateStacks(deployments: readonly Deployment[]): readonly number[][] {
  const places = new Map<string, number[]>();
  for (const [index, { context, name, autoDiscovery }] of deployments.entries()) {
    // The base of a discovery is replaced by what it finds.
    if (name === "" || autoDiscovery.enabled) continue;
    const key = JSON.stringify(stackKey(context, name));
    places.set(key, [...places.get(key) ?? [], index]);
  }
  return [...places.values()].filter((indexes) => indexes.length > 1);
}

function repositoryUrlOf(
  written: WrittenDeployment,
  origin: DeploymentOrigin,
  report: Report,
): string {
  const text = (written.repository_url ?? D.repository_url).trim();
  if (text === "") return "";
  const allowLocal = origin.trusted || origin.allowLocalRepositoryUrl === true;
  return accept(checkRepositoryUrl(text, allowLocal), "repository_url", report) ?? "";
}

function versionOf(written: WrittenDeployment, origin: DeploymentOrigin): string {
  const text = (written.version ?? "").trim();
  if (text === "" || (origin.migration === true && text === "doco.v1")) return D.version;
  return text;
}

function webhookFilterOf(written: WrittenDeployment, report: Report): string {
  const pattern = written.webhook_filter ?? D.webhook_filter;
  accept(compileWebhookFilter(pattern), "webhook_filter", report);
  return pattern;
}

function contextOf(written: WrittenDeployment): string {
  const text = (written.context ?? D.context).trim();
  return text.toLowerCase() === "default" ? "" : text;
}

function composeFilesOf(written: WrittenDeployment, report: Report) {
  if (written.compose_files === undefined || written.compose_files === null) {
    return { composeFiles: LOOKED_UP_COMPOSE_FILES, composeFilesGiven: false };
  }
  const files = texts(written.compose_files);
  if (files.length === 0) report("compose_files", "expected at least one compose file");
  return {
    composeFiles: files.map((file, index) =>
      accept(checkComposeFile(file), `compose_files[${index}]`, report) ?? ""
    ),
    composeFilesGiven: true,
  };
}

function environmentOf(written: WrittenDeployment, report: Report) {
  const environment = textMap(written.environment);
  for (const name of Object.keys(environment)) {
    if (name === "" || /[=\0]/.test(name)) {
      report("environment", "the name of a variable cannot be empty or contain =");
    }
  }
  return environment;
}

function sideFiles(key: string, written: readonly (string | null)[], report: Report) {
  return texts(written).map((file, index) =>
    accept(checkSideFile(file, undefined), `${key}[${index}]`, report) ?? ""
  );
}

function accept<T>(checked: Checked<T>, path: string, report: Report): T | undefined {
  if ("value" in checked) return checked.value;
  report(path, checked.problem);
  return undefined;
}
