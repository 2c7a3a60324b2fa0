import type { ContainerMount } from "./engine_facts.ts";

/** A mount of a container: its path inside, and the path on the engine's host. */
type OwnMount = Pick<ContainerMount, "destination" | "source">;

/** Mounts of files that the engine makes for a container, in a directory named after it. */
const OWN_FILE =
  /(?:^|\n)\S+ \S+ \S+ [^ \n]*\/([0-9a-f]{64})\/(hostname|hosts|resolv\.conf)(?:\/\/deleted)? \/etc\/\2 /g;

/**
 * The id of the container that this process runs in, from the text of `/proc/self/mountinfo`;
 * `undefined` on a host. The last match counts: when an outer container's `/etc` is mounted, its
 * files come first, and this container's lie over them. Only mounts directly in `/etc` count: a
 * host also lists its containers' volumes, whose names and targets any deployment chooses.
 */
export function ownContainerId(mountInfo: string): string | undefined {
  return [...mountInfo.matchAll(OWN_FILE)].at(-1)?.[1];
}

/** The path on the engine's host of a directory in this container, by the longest mount around it, if any. */
export function hostPath(directory: string, mounts: readonly OwnMount[]): string | undefined {
  const mount = mountAround(directory, mounts);
  return mount && mount.source + directory.slice(mount.destination.length);
}

/** The longest mount that contains a path of this container. */
export function mountAround<Mount extends Pick<OwnMount, "destination">>(
  path: string,
  mounts: readonly Mount[],
): Mount | undefined {
  const inside = (outer: string) => path === outer || path.startsWith(`${outer}/`);
  return mounts.filter((mount) => inside(mount.destination))
    .sort((a, b) => b.destination.length - a.destination.length)[0];
}

/** The path in this container of a path on the engine's host, by the longest mount around it. */
export function localPath(path: string, mounts: readonly OwnMount[]): string | undefined {
  const turned = mounts.map(({ source, destination }) => ({
    source: destination,
    destination: source,
  }));
  return hostPath(path, turned);
}
