import type { ContainerDetails } from "./engine_facts.ts";
import { mountLines } from "./mount_lines.ts";

/** The container of this process, with others that it needs. */
export interface OwnContainer extends ContainerDetails {
  /** Containers whose network, processes or IPC it has, and which it loses with them. */
  readonly lenders?: readonly ContainerDetails[];
}

/** What the kernel tells this process of the container that it runs in. */
export interface OwnTraces {
  /** Text of `/proc/self/mountinfo`. */
  readonly mounts: string;
  /** Text of `/proc/self/cgroup`. */
  readonly groups: string;
}

/** The last name of a control group that an engine made for a container. */
const OWN_GROUP = /\/(?:docker-|libpod-)?([0-9a-f]{64})(?:\.scope)?$/;

/**
 * The id that this process's control groups have; `undefined` on a host, and where the container has a
 * namespace of its own for them, as on hosts with control groups v2. In a container of a container the
 * inner one is last.
 */
export function groupContainerId({ mounts, groups }: OwnTraces): string | undefined {
  const paths = groups.split("\n").map((line) => line.slice(line.lastIndexOf(":") + 1));
  // A host also lists volumes, and what these lead to any deployment chooses.
  const ofMounts = mountLines(mounts).filter(({ at }) => /^\/sys\/fs\/cgroup(?:\/|$)/.test(at))
    .map(({ root }) => root);
  const found = [...paths, ...ofMounts].map((path) => OWN_GROUP.exec(path)?.[1]);
  return found.find((id) => id !== undefined);
}

/** Whether a container's own layer is the root of this process's files; `undefined` if nothing tells. */
export function hasOurRoot(
  { upperDirectory }: Pick<ContainerDetails, "upperDirectory">,
  { mounts }: OwnTraces,
): boolean | undefined {
  const root = mountLines(mounts).findLast(({ at }) => at === "/");
  const upper = /(?:^|,)upperdir=([^,]*)/.exec(root?.options ?? "")?.[1];
  if (upper === undefined || upperDirectory === undefined) return undefined;
  // The engine shortens its paths where there are too many layers.
  return upper.startsWith("/") ? upper === upperDirectory : upperDirectory.endsWith(`/${upper}`);
}
