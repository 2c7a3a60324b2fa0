import { dirname, join } from "node:path";
import { insideTree } from "../compose/mod.ts";
import { mountLines } from "../docker/mount_lines.ts";

/** The mounts of this machine: mount point to source, which is a disk and a path on it joined. */
export type DiskMounts = ReadonlyMap<string, string>;

/**
 * The mounts in the text of `/proc/self/mountinfo`; a later one hides an earlier one. Mounts of
 * type `proc` have different disk numbers, so `/proc` stands for each of them.
 */
export function diskMounts(mountInfo: string): DiskMounts {
  return new Map(
    mountLines(mountInfo).map(({ disk, root, at, type }) =>
      [at, join("/", type === "proc" ? type : disk, root)] as const
    ),
  );
}

/** The disk path of a path, which all its mounts share; the path itself without a mount. */
export function onDisk(path: string, mounts: DiskMounts): string {
  for (let at = path;; at = dirname(at)) {
    const shown = mounts.get(at);
    if (shown !== undefined) return join(shown, path.slice(at.length));
    if (at === dirname(at)) return path;
  }
}

/** A mount below a path, which is not that path itself. */
export function mountBelow(path: string, mounts: DiskMounts): string | undefined {
  return [...mounts.keys()].find((at) => at !== path && insideTree(at, path) !== undefined);
}
