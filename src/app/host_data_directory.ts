import { hostPath } from "../docker/mod.ts";
import { errors } from "../model/mod.ts";
import type { Host } from "../prepare/mod.ts";

/**
 * Path of the data directory on the engine's host, which containers mount from: the same on a host;
 * in a container, the source of its mount.
 *
 * Throws `data_dir_unusable` when it is in no mount of Stackwright's container: others could not mount
 * it, and it would be lost with this one; `engine_unreachable` when the engine does not answer.
 */
export async function findHostDataDirectory(
  own: Host["own"],
  dataDir: string,
  signal: AbortSignal,
): Promise<string> {
  const { mounts = [] } = await own(signal) ?? {};
  // On a host, or in a container that this engine does not have: the path is used as it is.
  if (mounts.length === 0) return dataDir;
  const found = hostPath(dataDir, mounts);
  if (found !== undefined) return found;
  throw errors.data_dir_unusable(
    `DATA_DIR ${dataDir} is not on a volume: mount one there, or set DATA_HOST_DIR to its path on the host`,
  );
}
