import {
  type ContainerDetails,
  type Engine,
  hostPath,
  localPath,
  ownContainerId,
} from "../docker/mod.ts";
import { errors } from "../model/mod.ts";
import { type Files, readText } from "../system/mod.ts";

/** Ports for asking an engine about the container that this process runs in. */
interface OwnParts {
  readonly files: Pick<Files, "readIfExists">;
  readonly engine: Pick<Engine, "inspectContainer">;
}

/** The container that this process runs in; `undefined` on a host, and where the engine has it not. */
export async function findOwnContainer(
  { files, engine }: OwnParts,
  signal: AbortSignal,
): Promise<ContainerDetails | undefined> {
  const id = ownContainerId(await readText(files, "/proc/self/mountinfo") ?? "");
  const found = id === undefined ? undefined : await engine.inspectContainer(id, signal);
  // Another engine may have a container with that name, which whoever deploys there chose.
  return found?.container.id === id ? found : undefined;
}

/**
 * Where this process sees a path of the engine's host: the same path on a host; in a container, where
 * one of its mounts shows it, and `undefined` where none does.
 */
export async function findLocalPath(
  parts: OwnParts,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { mounts = [] } = await findOwnContainer(parts, signal) ?? {};
  return mounts.length === 0 ? path : localPath(path, mounts);
}

/**
 * Where the data directory lies on the engine's host, which is what containers mount from: the same
 * path on a host; in a container, what the engine says is mounted there.
 *
 * Throws `data_dir_unusable` when it is part of our container alone: no other container could
 * mount it, and it would be lost with ours. Throws `engine_unreachable` when that has to be asked.
 */
export async function findHostDataDirectory(
  parts: OwnParts,
  dataDir: string,
  signal: AbortSignal,
): Promise<string> {
  const { mounts = [] } = await findOwnContainer(parts, signal) ?? {};
  // A container of another engine: its paths mean nothing here, so they are taken as they are.
  if (mounts.length === 0) return dataDir;
  const found = hostPath(dataDir, mounts);
  if (found !== undefined) return found;
  throw errors.data_dir_unusable(
    `DATA_DIR ${dataDir} is not on a volume: mount one there, or set DATA_HOST_DIR to its path on the host`,
  );
}
