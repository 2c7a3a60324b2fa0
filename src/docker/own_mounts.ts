import type { ContainerMount } from "./engine_facts.ts";

/** One mount of a container: where it is inside, and what it is on the engine's host. */
type OwnMount = Pick<ContainerMount, "destination" | "source">;

/** The engine mounts its own files for a container from a directory named after it. */
const OWN_FILE =
  /(?:^|\n)\S+ \S+ \S+ [^ \n]*\/([0-9a-f]{64})\/(hostname|hosts|resolv\.conf)(?:\/\/deleted)? \/etc\/\2 /g;

/**
 * The id of the container this process runs in, from the text of `/proc/self/mountinfo`. The last ones
 * count: with `/etc` of a container around this one come that one's files, and this one's lie over them.
 * Only what is mounted in `/etc` itself does: a host shows the volumes of its containers, too, and
 * whoever deploys one chooses what it is called and where it leads. `undefined` on a host.
 */
export function ownContainerId(mountInfo: string): string | undefined {
  return [...mountInfo.matchAll(OWN_FILE)].at(-1)?.[1];
}

/**
 * The place of a directory of this container on the engine's host, by the longest mount that contains
 * it; `undefined` when no mount does.
 */
export function hostPath(directory: string, mounts: readonly OwnMount[]): string | undefined {
  const mount = mountAround(directory, mounts);
  return mount && mount.source + directory.slice(mount.destination.length);
}

/** The mount that a path of this container lies in: the longest one that contains it. */
export function mountAround<Mount extends Pick<OwnMount, "destination">>(
  path: string,
  mounts: readonly Mount[],
): Mount | undefined {
  const inside = (outer: string) => path === outer || path.startsWith(`${outer}/`);
  return mounts.filter((mount) => inside(mount.destination))
    .sort((a, b) => b.destination.length - a.destination.length)[0];
}

/** The place of a path of the engine's host in this container, by the longest mount that shows it. */
export function localPath(path: string, mounts: readonly OwnMount[]): string | undefined {
  const turned = mounts.map(({ source, destination }) => ({
    source: destination,
    destination: source,
  }));
  return hostPath(path, turned);
}
