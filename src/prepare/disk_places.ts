import { dirname, join } from "node:path";

/** What the mounts of this machine show, each a disk and a path on it as one path, by where they are. */
export type DiskMounts = ReadonlyMap<string, string>;

/** The mounts in the text of `/proc/self/mountinfo`; a later one covers one before. */
export function diskMounts(mountInfo: string): DiskMounts {
  const lines = mountInfo.matchAll(/^\S+ \S+ (\S+) (\S+) (\S+)/gm);
  const shown = (disk: string, root: string) => join("/", disk, unescaped(root));
  return new Map(
    [...lines].map(([, disk = "", root = "", at = ""]) => [unescaped(at), shown(disk, root)]),
  );
}

/** The place of a path on its disk, which is one whatever mount shows it; the path where no mount does. */
export function onDisk(path: string, mounts: DiskMounts): string {
  for (let at = path;; at = dirname(at)) {
    const shown = mounts.get(at);
    if (shown !== undefined) return join(shown, path.slice(at.length));
    if (at === dirname(at)) return path;
  }
}

/** A space, and the few characters like it, stand there as their number. */
function unescaped(text: string): string {
  return text.replace(
    /\\([0-7]{3})/g,
    (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
