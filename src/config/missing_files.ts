import { posix } from "node:path";
import type { Deployment, Problem } from "../model/mod.ts";
import { sideFileBase } from "./side_files.ts";
import { REMOTE_PREFIX } from "./source_path.ts";
import type { Checkout } from "./checkout.ts";
import type { DeclaredStack } from "./validate_discovery.ts";
import { problemAt } from "./validate_discovery.ts";

/** The files that a stack names and this checkout lacks. */
export async function missingFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  // A stack that is destroyed needs no files.
  if (stack.deployment.destroy.enabled) return [];
  const problems = await missingSideFiles(checkout, stack);
  // This checkout does not have the files of another repository.
  if (stack.deployment.repositoryUrl !== "") return problems;
  return [...await missingComposeFiles(checkout, stack), ...problems];
}

async function missingComposeFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  const { composeFiles, composeFilesGiven, workingDir } = stack.deployment;
  const missing: string[] = [];
  for (const name of composeFiles) {
    const path = posix.join(workingDir, name);
    if (!await checkout.exists(path)) missing.push(path);
  }
  if (missing.length === composeFiles.length && (await checkout.list(workingDir)).size === 0) {
    return [problemAt(stack, "working_dir", `${workingDir} does not exist`)];
  }
  if (composeFilesGiven) {
    return missing.map((path) => problemAt(stack, "compose_files", `${path} does not exist`));
  }
  if (missing.length < composeFiles.length) return [];
  const message = `${workingDir} has no compose file: ${composeFiles.join(", ")}`;
  return [problemAt(stack, "compose_files", message)];
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
      problems.push(problemAt(stack, key, `${path} does not exist`));
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
