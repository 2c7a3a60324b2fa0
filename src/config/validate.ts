import { posix } from "node:path";
import { type Deployment, isStackwrightError, type Problem } from "../model/mod.ts";
import { configFileNames, isConfigFileName } from "./config_file_names.ts";
import { parseDeployments } from "./deployment.ts";
import { duplicateStacks, sideFileBase } from "./deployment_rules.ts";
import { REMOTE_PREFIX } from "./source_path.ts";
import { composeFilesIn, validateCompose } from "./validate_compose.ts";
import type { Checkout } from "./checkout.ts";
import {
  type DeclaredStack,
  declaredStacks,
  isEncrypted,
  notChecked,
} from "./validate_discovery.ts";

/** Options for validating a checkout. */
export interface ValidateOptions {
  /** Directory of the configuration files, `.` when absent. */
  readonly baseDir?: string;
  readonly allowLocalRepositoryUrl?: boolean;
}

/** Findings of a validation. */
export interface Validation {
  /** What is declared, a discovery being what it finds. */
  readonly stacks: readonly DeclaredStack[];
  /** Configuration files that were read, those of discovered directories included. */
  readonly files: readonly string[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Checks every deployment configuration of a checkout, for every target: syntax and keys, that the
 * listed compose files and dotenv files exist, names that occur twice, and what a discovery in this
 * checkout finds with the overrides it would merge. Never throws for what is in the files.
 */
export async function validateCheckout(
  checkout: Checkout,
  options: ValidateOptions = {},
): Promise<Validation> {
  const base = posix.normalize((options.baseDir ?? ".").replace(/^\/+/, "") || ".");
  const names = (await checkout.names()).filter(isConfigFileName).sort();
  const found: Validation[] = [];
  for (const name of names) {
    found.push(await validateFile(checkout, posix.join(base, name), { ...options, baseDir: base }));
  }
  const problems = found.flatMap((each) => each.problems);
  return {
    files: [...new Set(found.flatMap((each) => each.files))],
    stacks: found.flatMap((each) => each.stacks),
    problems: names.length === 0 ? [noConfiguration(base)] : problems,
    warnings: found.flatMap((each) => each.warnings),
  };
}

async function validateFile(
  checkout: Checkout,
  file: string,
  options: ValidateOptions,
): Promise<Validation> {
  const read = await readDocuments(checkout, file, options);
  const problems = [...read.problems];
  const warnings: Problem[] = [...read.warnings];
  const stacks: DeclaredStack[] = [];
  const files = [file];
  for (const document of read.documents) {
    warnings.push(...document.warnings);
    const declared = await declaredStacks(checkout, { file, document }, options.baseDir ?? ".");
    problems.push(...declared.problems);
    warnings.push(...declared.warnings);
    stacks.push(...declared.stacks);
    files.push(...declared.overrides);
  }
  problems.push(...duplicates(stacks));
  for (const stack of stacks) {
    problems.push(...await missingFiles(checkout, stack));
    const compose = await composeFindings(checkout, stack);
    problems.push(...compose.problems);
    warnings.push(...compose.warnings);
  }
  return { files, stacks, problems, warnings };
}

/** Names that only a discovery brings together: those of one file were compared when it was read. */
function duplicates(stacks: readonly DeclaredStack[]): Problem[] {
  return duplicateStacks(stacks.map((each) => each.deployment)).flatMap((indexes) => {
    const same = indexes.flatMap((index) => stacks[index] ?? []);
    const last = same.at(-1);
    if (last === undefined || same.every((each) => each.directory === undefined)) return [];
    const places = same.map((each) => each.directory ?? each.deployment.workingDir).join(", ");
    const { name } = last.deployment;
    return [
      at(last, "name", `deployment ${name} is configured ${same.length} times (in ${places})`),
    ];
  });
}

function noConfiguration(base: string): Problem {
  const [first] = configFileNames("");
  return {
    file: posix.join(base, first ?? ""),
    message: `no deployment configuration found; expected ${configFileNames("").join(", ")}`,
  };
}

async function readDocuments(checkout: Checkout, file: string, options: ValidateOptions) {
  const none = { documents: [], problems: [], warnings: [] };
  const text = await checkout.read(file);
  if (text === undefined) {
    return { ...none, problems: [{ file, message: "the file cannot be read" }] };
  }
  if (isEncrypted(text)) return { ...none, warnings: [notChecked(file)] };
  try {
    const allow = options.allowLocalRepositoryUrl === true;
    const parse = { file, trusted: false, allowLocalRepositoryUrl: allow };
    return { ...none, documents: parseDeployments(text, parse) };
  } catch (error) {
    if (!isStackwrightError(error, "config_invalid")) throw error;
    return { ...none, problems: error.problems };
  }
}

async function missingFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  // What is taken away needs no files any more.
  if (stack.deployment.destroy.enabled) return [];
  const problems = await missingSideFiles(checkout, stack);
  // What another repository holds cannot be seen from here.
  if (stack.deployment.repositoryUrl !== "") return problems;
  return [...await missingComposeFiles(checkout, stack), ...problems];
}

/** What the compose files themselves say, and those they include, where they can be seen from here. */
async function composeFindings(
  checkout: Checkout,
  { deployment }: DeclaredStack,
): Promise<{ problems: Problem[]; warnings: Problem[] }> {
  const findings = { problems: [] as Problem[], warnings: [] as Problem[] };
  if (deployment.repositoryUrl !== "" || deployment.destroy.enabled) return findings;
  const { workingDir: base } = deployment;
  const there = new Set<string>();
  for (const each of deployment.composeFiles) {
    const path = posix.join(base, each);
    if (await checkout.exists(path)) there.add(path);
  }
  const queue = composeFilesIn(deployment, there).map((file) => ({ file, base }));
  const seen = new Set(queue.map(({ file }) => file));
  const missing: Problem[] = [];
  let takesBack = false;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { file } = next;
    const text = await checkout.read(file);
    if (text === undefined) continue;
    if (isEncrypted(text)) {
      findings.warnings.push(notChecked(file));
      continue;
    }
    takesBack ||= /!(?:reset|override)\b/.test(text);
    const { problems, warnings, references } = validateCompose(text, next);
    findings.problems.push(...problems);
    findings.warnings.push(...warnings);
    for (const { key, path, base: inside } of references) {
      if (!await checkout.exists(path)) {
        missing.push({ file, path: key, message: `${path} does not exist` });
      } else if (inside !== undefined && !seen.has(path)) {
        seen.add(path);
        queue.push({ file: path, base: inside });
      }
    }
  }
  // A file may take back what another one names.
  findings.problems.push(...missing.filter(({ path }) => !takesBack || path !== "env_file"));
  return findings;
}

async function missingComposeFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  const { composeFiles, composeFilesGiven, workingDir } = stack.deployment;
  const missing: string[] = [];
  for (const name of composeFiles) {
    const path = posix.join(workingDir, name);
    if (!await checkout.exists(path)) missing.push(path);
  }
  if (composeFilesGiven) {
    return missing.map((path) => at(stack, "compose_files", `${path} does not exist`));
  }
  if (missing.length < composeFiles.length) return [];
  const message = `${workingDir} has no compose file: ${composeFiles.join(", ")}`;
  return [at(stack, "compose_files", message)];
}

async function missingSideFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  const { deployment } = stack;
  const problems: Problem[] = [];
  const lists = {
    env_files: deployment.envFiles.filter((name) => name !== ".env"),
    external_secrets_files: deployment.externalSecretsFiles,
  };
  for (const [key, names] of Object.entries(lists)) {
    for (const name of names) {
      const path = localPath(deployment, name);
      if (path === undefined || await checkout.exists(path)) continue;
      problems.push(at(stack, key, `${path} does not exist`));
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

function at(stack: DeclaredStack, path: string, message: string): Problem {
  return { ...stack.place(path), path, message };
}
