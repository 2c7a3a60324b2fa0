import { posix } from "node:path";
import type { Problem } from "../model/mod.ts";
import { composeFilesIn, type JobChecks, validateCompose } from "./validate_compose.ts";
import type { Checkout } from "./checkout.ts";
import { problemsIn } from "./problem_sink.ts";
import { type DeclaredStack, isEncrypted, notChecked } from "./validate_discovery.ts";

/** The message about a compose file of a default name beside the `first`; other managers merge both. */
export function unusedFile(first: string): string {
  return `not used: ${first} comes first; to merge the two, list both in compose_files`;
}

/** Mounts of a compose file that are looked for in the checkout: each may be a large directory. */
const MOST_MOUNTS = 100;

function unmade(path: string): string {
  return `${path} does not exist in the repository: where create_host_path is false, or docker compose ` +
    "is older than 5 and it is not given, the deployment is refused; with `bind: {create_host_path: " +
    "true}` it is made as a directory that containers may write to";
}

/** Findings in the compose files of a stack and in their includes, as far as the checkout has them. */
export async function composeFindings(
  checkout: Checkout,
  { deployment }: DeclaredStack,
  jobs: JobChecks,
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
  const [first = ""] = queue.map(({ file }) => file);
  for (const file of deployment.composeFilesGiven ? [] : there) {
    if (file !== first) findings.warnings.push({ file, message: unusedFile(first) });
  }
  const seen = new Set(queue.map(({ file }) => file));
  const missing: { readonly key: string; readonly problem: Problem }[] = [];
  let takesBack = false;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { file } = next;
    const text = await checkout.read(file).catch((error) => {
      findings.problems.push(...problemsIn(error));
    });
    if (text === undefined) continue;
    if (isEncrypted(text)) {
      findings.warnings.push(notChecked(file));
      continue;
    }
    takesBack ||= /!(?:reset|override)\b/.test(text);
    const { problems, warnings, references, mounts } = validateCompose(text, {
      ...next,
      isPaused: deployment.pause,
    }, jobs);
    findings.problems.push(...problems);
    findings.warnings.push(...warnings);
    for (const { path, where } of mounts.slice(0, MOST_MOUNTS)) {
      if (!await checkout.holds(path)) {
        findings.warnings.push({ file, ...where, message: unmade(path) });
      }
    }
    for (const { key, path, base: inside, where = { path: key } } of references) {
      if (!await checkout.exists(path)) {
        missing.push({ key, problem: { file, ...where, message: `${path} does not exist` } });
      } else if (inside !== undefined && !seen.has(path)) {
        seen.add(path);
        queue.push({ file: path, base: inside });
      }
    }
  }
  // `!reset` or `!override` in one file may remove the `env_file` of another.
  const certain = missing.filter(({ key }) => !takesBack || key !== "env_file");
  findings.problems.push(...certain.map(({ problem }) => problem));
  return findings;
}
