import { dirname, join } from "node:path";
import { OF_A_PROCESS } from "../compose/mod.ts";
import { partsOfPath } from "../model/mod.ts";
import type { Files } from "../system/mod.ts";
import { type DiskMounts, onDisk } from "../deploy/mod.ts";

/** Links that the kernel follows within one path. */
const MOST_LINKS = 40;

/**
 * Whether links lead a path through files that a process has open: `/proc/self/cwd` is another
 * directory for the engine, so resolving it here proves nothing. `mounts` show other places of `/proc`.
 */
export async function leadsThroughProcess(
  files: Pick<Files, "readLink" | "stat">,
  mounts: DiskMounts,
  path: string,
): Promise<boolean> {
  const left = partsOfPath(path).reverse();
  let [at, links] = ["/", 0];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    const place = name === ".." ? dirname(at) : join(at, name);
    if (OF_A_PROCESS.test(place) || OF_A_PROCESS.test(onDisk(place, mounts))) return true;
    const info = await files.stat(place);
    if (info === undefined || links > MOST_LINKS) return false;
    if (info.kind !== "symlink") {
      at = place;
      continue;
    }
    const target = await files.readLink(place) ?? "";
    links++;
    left.push(...partsOfPath(target).reverse());
    if (target.startsWith("/")) at = "/";
  }
  return false;
}
