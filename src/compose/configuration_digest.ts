import { canonicalJson } from "./model.ts";
import type { Deployment } from "../model/mod.ts";

/**
 * Bumped when the same configuration starts to give another release. Raising it makes every stack
 * render once after an upgrade; whether anything is then replaced is still decided by digests.
 */
const FORMAT = 1;

/** The part of a release that comes from configuration and variables, as one text to digest. */
export function configurationText(
  deployment: Deployment,
  variables: Readonly<Record<string, string>>,
  hostDataDir: string,
): string {
  const { workingDir, composeFiles, composeFilesGiven, envFiles, profiles, build, swarm } =
    deployment;
  const shape = { workingDir, composeFiles, composeFilesGiven, envFiles, profiles, swarm };
  // Side files lie elsewhere then: paths that are equal do not mean the same files.
  const elsewhere = deployment.repositoryUrl === "" ? {} : { elsewhere: true };
  return canonicalJson({
    FORMAT,
    ...shape,
    ...elsewhere,
    args: build.args,
    variables,
    hostDataDir,
  });
}
