import { posix } from "node:path";
import type { Deployment, Problem } from "../model/mod.ts";
import { composeFilesIn, type JobChecks, validateCompose } from "./validate_compose.ts";
import type { Checkout } from "./checkout.ts";
import { takesBack } from "./compose_text.ts";
import type { UnmadeMount } from "./mounts_outside.ts";
import { badImages, buildContexts, imageless, mixedUpServices } from "./built_services.ts";
import {
  type ActiveProfiles,
  contentFiles,
  type ProjectFile,
  undefinedNames,
} from "./undefined_names.ts";
import { sideFilePlace } from "./side_files.ts";
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
  const isShort = deployment.composeFilesGiven && there.size < deployment.composeFiles.length;
  const whole: (ProjectFile | undefined)[] = isShort ? [undefined] : [];
  let isUndone = false;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { file } = next;
    const text = await checkout.read(file).catch((error) => {
      findings.problems.push(...problemsIn(error));
    });
    if (text === undefined || isEncrypted(text)) {
      whole.push(undefined);
      if (text !== undefined) findings.warnings.push(notChecked(file));
      continue;
    }
    isUndone ||= takesBack(text);
    const { problems, warnings, references, mounts, read } = validateCompose(text, {
      ...next,
      isPaused: deployment.pause,
    }, jobs);
    findings.problems.push(...problems);
    findings.warnings.push(...warnings);
    whole.push(read && { ...read, base: next.base });
    findings.warnings.push(...await unmadeIn(checkout, file, mounts));
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
  const certain = missing.filter(({ key }) => !isUndone || key !== "env_file");
  findings.problems.push(...certain.map(({ problem }) => problem));
  const isWhole = !isUndone && missing.every(({ key }) => key !== "include");
  if (isWhole) findings.problems.push(...await foundInWhole(checkout, deployment, whole));
  return findings;
}

/** Warnings of mounts of which the checkout has nothing. */
async function unmadeIn(
  checkout: Checkout,
  file: string,
  mounts: readonly UnmadeMount[],
): Promise<Problem[]> {
  const found: Problem[] = [];
  for (const { path, where } of mounts.slice(0, MOST_MOUNTS)) {
    if (!await checkout.holds(path)) found.push({ file, ...where, message: unmade(path) });
  }
  return found;
}

/** What the files of a stack tell together; nothing where one of them is not known, which may say more. */
async function foundInWhole(
  checkout: Checkout,
  deployment: Deployment,
  files: readonly (ProjectFile | undefined)[],
): Promise<Problem[]> {
  const known = files.filter((each) => each !== undefined);
  if (known.length < files.length) return [];
  const active = await activeProfiles(checkout, deployment);
  const found = [
    ...undefinedNames(known, active),
    ...imageless(known, active),
    ...badImages(known, active),
    ...mixedUpServices(known, active),
  ];
  for (const { path, file, where } of contentFiles(known, active)) {
    if (await checkout.holds(path)) continue;
    found.push({ file, ...where, message: `${path} ${NO_CONTENT}` });
  }
  // A submodule that was not checked out is there when it is deployed.
  const hasModules = await checkout.exists(".gitmodules");
  for (const { path, file, where } of hasModules ? [] : buildContexts(known, active)) {
    if (await checkout.holds(path)) continue;
    found.push({
      file,
      ...where,
      message: `${path} is no directory of the repository to build in`,
    });
  }
  return found;
}

/** Of a pipe, a socket, and a link that is not followed too: they are there. */
const NO_CONTENT = "is no file or directory of the repository";

/** A variable by which compose is told of profiles, too. */
const PROFILES = "COMPOSE_PROFILES";

/** The profiles that are on, as far as the checkout tells. */
async function activeProfiles(
  checkout: Checkout,
  deployment: Deployment,
): Promise<ActiveProfiles> {
  const { profiles: names, environment, externalSecrets, externalSecretsFiles } = deployment;
  let isMore = externalSecretsFiles.length > 0 || PROFILES in environment ||
    PROFILES in externalSecrets;
  for (const each of deployment.envFiles) {
    const { path } = sideFilePlace(deployment, each);
    // A file that cannot be read, or that is encrypted, may have it.
    const text = await checkout.read(path).catch(() => PROFILES);
    isMore ||= [PROFILES, "ENC["].some((sign) => text?.includes(sign));
  }
  return { names, isMore };
}
