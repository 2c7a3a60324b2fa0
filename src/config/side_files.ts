import { posix } from "node:path";
import type { Deployment } from "../model/mod.ts";
import { REMOTE_PREFIX } from "./source_path.ts";

/**
 * The directory to which the path of a dotenv or secrets file is relative: the working directory of the
 * deployed repository, or the root of the configuration's repository when that is another one.
 */
export function sideFileBase(deployment: Deployment, file: string): string {
  const elsewhere = deployment.repositoryUrl !== "" && !file.startsWith("remote:");
  return elsewhere ? "." : deployment.workingDir;
}

/** Place of a dotenv or secrets file of a deployment. */
interface SideFilePlace {
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

/** True for the default dotenv file, which may be missing. */
export function isDefaultEnvFile(file: string): boolean {
  return file === ".env";
}
