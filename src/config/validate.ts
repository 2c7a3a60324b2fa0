import { posix } from "node:path";
import { type Deployment, isStackwrightError, type Problem } from "../model/mod.ts";
import { configFileNames, isConfigFileName } from "./config_file_names.ts";
import { type DeploymentDocument, parseDeployments } from "./deployment.ts";
import { sideFileBase } from "./deployment_rules.ts";
import { REMOTE_PREFIX } from "./source_path.ts";

/** A checkout as a validator sees it. Paths are POSIX and relative to its root. */
export interface Checkout {
  /** Names in the directory the configuration is searched in, which is the root unless said otherwise. */
  names(): Promise<readonly string[]>;
  /** Whether there is a file at `path`. */
  exists(path: string): Promise<boolean>;
  /** The text of a file; `undefined` when there is none. */
  read(path: string): Promise<string | undefined>;
}

/** How to validate a checkout. */
export interface ValidateOptions {
  /** Directory of the configuration files, `.` when absent. */
  readonly baseDir?: string;
  readonly allowLocalRepositoryUrl?: boolean;
}

/** What a validation found. */
export interface Validation {
  /** Configuration files that were read. */
  readonly files: readonly string[];
  /** Deployments in files without problems. */
  readonly deployments: number;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Checks every deployment configuration of a checkout, for every target: syntax and keys, that the
 * listed compose files and dotenv files exist, and names that occur twice. Never throws for what
 * is in the files.
 */
export async function validateCheckout(
  checkout: Checkout,
  options: ValidateOptions = {},
): Promise<Validation> {
  const base = posix.normalize((options.baseDir ?? ".").replace(/^\/+/, "") || ".");
  const names = (await checkout.names()).filter(isConfigFileName).sort();
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  let deployments = 0;
  for (const name of names) {
    const file = posix.join(base, name);
    const read = await readDocuments(checkout, file, options);
    problems.push(...read.problems);
    deployments += read.documents.length;
    for (const document of read.documents) {
      warnings.push(...document.warnings);
      problems.push(...await missingFiles(checkout, file, document));
    }
  }
  if (names.length === 0) problems.push(noConfiguration(base));
  return { files: names.map((name) => posix.join(base, name)), deployments, problems, warnings };
}

function noConfiguration(base: string): Problem {
  const [first] = configFileNames("");
  return {
    file: posix.join(base, first ?? ""),
    message: `no deployment configuration found; expected ${configFileNames("").join(", ")}`,
  };
}

async function readDocuments(checkout: Checkout, file: string, options: ValidateOptions) {
  const text = await checkout.read(file);
  if (text === undefined) {
    return { documents: [], problems: [{ file, message: "the file cannot be read" }] };
  }
  try {
    const allow = options.allowLocalRepositoryUrl === true;
    const parse = { file, trusted: false, allowLocalRepositoryUrl: allow };
    return { documents: parseDeployments(text, parse), problems: [] };
  } catch (error) {
    if (!isStackwrightError(error, "config_invalid")) throw error;
    return { documents: [], problems: error.problems };
  }
}

async function missingFiles(
  checkout: Checkout,
  file: string,
  document: DeploymentDocument,
): Promise<Problem[]> {
  const { deployment } = document;
  // What a discovery finds, and what another repository holds, cannot be seen from here.
  if (deployment.autoDiscovery.enabled) return [];
  const problems = await missingSideFiles(checkout, file, document);
  if (deployment.repositoryUrl !== "") return problems;
  return [...await missingComposeFiles(checkout, file, document), ...problems];
}

async function missingComposeFiles(
  checkout: Checkout,
  file: string,
  document: DeploymentDocument,
): Promise<Problem[]> {
  const { composeFiles, composeFilesGiven, workingDir } = document.deployment;
  const missing: string[] = [];
  for (const name of composeFiles) {
    const path = posix.join(workingDir, name);
    if (!await checkout.exists(path)) missing.push(path);
  }
  if (composeFilesGiven) {
    return missing.map((path) => at(file, document, "compose_files", `${path} does not exist`));
  }
  if (missing.length < composeFiles.length) return [];
  const message = `${workingDir} has no compose file: ${composeFiles.join(", ")}`;
  return [at(file, document, "compose_files", message)];
}

async function missingSideFiles(
  checkout: Checkout,
  file: string,
  document: DeploymentDocument,
): Promise<Problem[]> {
  const { deployment } = document;
  const problems: Problem[] = [];
  const lists = {
    env_files: deployment.envFiles.filter((name) => name !== ".env"),
    external_secrets_files: deployment.externalSecretsFiles,
  };
  for (const [key, names] of Object.entries(lists)) {
    for (const name of names) {
      const path = localPath(deployment, name);
      if (path === undefined || await checkout.exists(path)) continue;
      problems.push(at(file, document, key, `${path} does not exist`));
    }
  }
  return problems;
}

/** The path in this checkout; `undefined` for a file of another repository. */
function localPath(deployment: Deployment, name: string): string | undefined {
  const remote = name.startsWith(REMOTE_PREFIX);
  if (remote && deployment.repositoryUrl !== "") return undefined;
  const bare = remote ? name.slice(REMOTE_PREFIX.length) : name;
  return posix.join(sideFileBase(deployment, name), bare);
}

function at(file: string, document: DeploymentDocument, path: string, message: string): Problem {
  return { file, ...document.place(path), path, message };
}
