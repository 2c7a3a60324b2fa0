import type { Deployment } from "../model/mod.ts";
import {
  BUILD_DEFAULTS,
  DEPLOYMENT_DEFAULTS as D,
  DESTROY_DEFAULTS,
  DISCOVERY_DEFAULTS,
  LOOKED_UP_COMPOSE_FILES,
  PLAIN_DEFAULTS,
} from "./deployment_defaults.ts";
import { ociOptions, retryOptions, secretReferences, swarmOptions } from "./deployment_options.ts";
import { reconciliationOptions } from "./reconciliation_options.ts";
import { seconds, textMap, texts, withDefaults } from "./written_values.ts";
import type { WrittenDeployment } from "./deployment_schema.ts";
import type { Report } from "./problem_sink.ts";
import { checkRepositoryUrl } from "./repository_url.ts";
import { checkComposeFile, checkSideFile, checkWorkingDir } from "./source_path.ts";
import { compilePattern, type StepsLeft } from "./pattern.ts";
import { accept } from "./checked.ts";

/** Author of a deployment, as far as rules depend on it. */
export interface DeploymentOrigin {
  /** Settings and authenticated requests; never a repository or a webhook payload. */
  readonly trusted: boolean;
  /** Whether `file://` URLs are allowed all the same. */
  readonly allowLocalRepositoryUrl?: boolean;
  /** Whether the file has the name of the migration, where `doco.v1` means `service.v1`. */
  readonly migration?: boolean;
  /** True for the override of a discovered stack, which inherits the keys that it leaves out. */
  readonly partial?: boolean;
  /** Steps that the filters of a file's further documents may have: it may have hundreds. */
  readonly filters?: StepsLeft;
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
    // A repository URL is always Git's, even in the configuration of an artifact.
    source: repositoryUrl === "" ? source : "git",
    version: versionOf(written, origin),
    repositoryUrl,
    webhookFilter: webhookFilterOf(written, origin, report),
    reference: (written.reference ?? D.reference).trim(),
    workingDir,
    context: contextOf(written),
    ...composeFilesOf(written, report),
    environment: environmentOf(written, report),
    envFiles: sideFiles("env_files", written.env_files ?? D.env_files, report),
    ...withDefaults(written, PLAIN_DEFAULTS),
    swarm: swarmOptions(written.swarm),
    timeoutSeconds: seconds(
      written.timeout ?? D.timeout,
      1,
      (why) => report("timeout", why),
      LONGEST_TIMEOUT,
    ),
    build: { ...withDefaults(written.build, BUILD_DEFAULTS), args: textMap(written.build?.args) },
    destroy: withDefaults(written.destroy, DESTROY_DEFAULTS),
    profiles: texts(written.profiles ?? D.profiles),
    externalSecrets: secretReferences(written.external_secrets),
    externalSecretsFiles: sideFiles(
      "external_secrets_files",
      written.external_secrets_files ?? D.external_secrets_files,
      report,
    ),
    autoDiscovery: withDefaults(written.auto_discovery, DISCOVERY_DEFAULTS),
    retry: retryOptions(written.retry, report),
    reconciliation: reconciliationOptions(written.reconciliation, report),
    oci: ociOptions(origin.trusted ? written.oci : undefined, report),
  };
}

/** A day: a waiting deployment holds a slot that all share, and a repository sets the timeout. */
const LONGEST_TIMEOUT = 24 * 60 * 60;

function repositoryUrlOf(written: WrittenDeployment, origin: DeploymentOrigin, report: Report) {
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

function webhookFilterOf(
  written: WrittenDeployment,
  { filters }: DeploymentOrigin,
  report: Report,
): string {
  const pattern = written.webhook_filter ?? D.webhook_filter;
  accept(compilePattern(pattern, filters), "webhook_filter", report);
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
