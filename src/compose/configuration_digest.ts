import { canonicalJson } from "./model.ts";
import type { Deployment } from "../model/mod.ts";

/** Version of the digest, raised when an unchanged configuration gives another release. */
const FORMAT = 1;

/** The text to digest for the part of a release that comes from configuration and variables. */
export function configurationText(
  deployment: Deployment,
  variables: Readonly<Record<string, string>>,
  hostDataDir: string,
): string {
  const {
    workingDir,
    composeFiles,
    composeFilesGiven,
    envFiles,
    profiles,
    build,
    swarm,
    forceRecreate,
  } = deployment;
  const shape = { workingDir, composeFiles, composeFilesGiven, envFiles, profiles, swarm };
  // With `repository_url`, equal paths of side files belong to another source.
  const elsewhere = deployment.repositoryUrl === "" ? {} : { elsewhere: true };
  return canonicalJson({
    FORMAT,
    ...shape,
    ...elsewhere,
    args: build.args,
    // Setting it, or how such a deployment builds, counts as a change: its containers are made anew once.
    ...(forceRecreate ? { forced: [build.noCache, build.forceImagePull] } : {}),
    variables,
    hostDataDir,
  });
}
