import { posix } from "node:path";
import type { Problem } from "../model/mod.ts";
import { isDefaultEnvFile, sideFilePlace } from "./side_files.ts";
import type { Checkout } from "./checkout.ts";
import { type DeclaredStack, problemAt } from "./validate_discovery.ts";

/** The files that a stack names and this checkout lacks. */
export async function missingFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  // A stack that is destroyed needs no files.
  if (stack.deployment.destroy.enabled) return [];
  const problems = await missingSideFiles(checkout, stack);
  if (isElsewhere(stack)) return problems;
  return [...await missingComposeFiles(checkout, stack), ...problems];
}

/** Whether a stack is deployed from another repository or reference than its configuration: not from this checkout. */
function isElsewhere({ deployment: { repositoryUrl, reference } }: DeclaredStack): boolean {
  return repositoryUrl !== "" || reference !== "";
}

async function missingComposeFiles(checkout: Checkout, stack: DeclaredStack): Promise<Problem[]> {
  const { composeFiles, composeFilesGiven, workingDir } = stack.deployment;
  const missing: string[] = [];
  for (const name of composeFiles) {
    const path = posix.join(workingDir, name);
    if (!await checkout.exists(path)) missing.push(path);
  }
  if (missing.length === composeFiles.length && !await checkout.holds(workingDir)) {
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
    env_files: deployment.envFiles.filter((name) => !isDefaultEnvFile(name)),
    external_secrets_files: deployment.externalSecretsFiles,
  };
  for (const [key, names] of Object.entries(lists)) {
    for (const name of names) {
      const { from, path } = sideFilePlace(deployment, name);
      if (from === "deployed" && isElsewhere(stack) || await checkout.exists(path)) continue;
      problems.push(problemAt(stack, key, `${path} does not exist`));
    }
  }
  return problems;
}
