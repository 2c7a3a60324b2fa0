import {
  type ContainerDetails,
  type Engine,
  hostPath,
  localPath,
  ownContainerId,
} from "../docker/mod.ts";
import { errors } from "../model/mod.ts";
import { type Files, readText } from "../system/mod.ts";

/** Ports for inspecting the container that this process runs in. */
interface OwnParts {
  readonly files: Pick<Files, "readIfExists">;
  readonly engine: Pick<Engine, "inspectContainer">;
}

/** The container of this process; `undefined` on a host, or if the engine does not have it. */
export async function findOwnContainer(
  { files, engine }: OwnParts,
  signal: AbortSignal,
): Promise<ContainerDetails | undefined> {
  const id = ownContainerId(await readText(files, "/proc/self/mountinfo") ?? "");
  const found = id === undefined ? undefined : await engine.inspectContainer(id, signal);
  // Engines find containers by name, too: on another engine one may be named like this id.
  return found?.container.id === id ? found : undefined;
}

/** Path at which this process sees a path of the engine's host; `undefined` where no mount has it. */
export async function findLocalPath(
  parts: OwnParts,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { mounts = [] } = await findOwnContainer(parts, signal) ?? {};
  return mounts.length === 0 ? path : localPath(path, mounts);
}

/**
 * Path of the data directory on the engine's host, which containers mount from: the same on a host;
 * in a container, the source of its mount.
 *
 * Throws `data_dir_unusable` when the directory is in no mount of Stackwright's container: other
 * containers could not mount it, and it would be lost with this one. Throws `engine_unreachable`
 * when the engine does not answer.
 */
export async function findHostDataDirectory(
  parts: OwnParts,
  dataDir: string,
  signal: AbortSignal,
): Promise<string> {
  const { mounts = [] } = await findOwnContainer(parts, signal) ?? {};
  // On a host, or in a container that this engine does not have: the path is used as it is.
  if (mounts.length === 0) return dataDir;
  const found = hostPath(dataDir, mounts);
  if (found !== undefined) return found;
  throw errors.data_dir_unusable(
    `DATA_DIR ${dataDir} is not on a volume: mount one there, or set DATA_HOST_DIR to its path on the host`,
  );
}
