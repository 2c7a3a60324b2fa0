import { dirname } from "node:path";
import { insideTree } from "../compose/mod.ts";
import type { Files } from "../system/mod.ts";

/** Show our environment and all that we have open, and some of their files never end. */
const OF_THE_KERNEL = ["/proc", "/sys", "/dev"];
/** Directories of the data directory with what other repositories gave. */
const OTHERS = ["sources", "releases"];

/**
 * Whether a real path leads to, or contains, our ledger, keys, secrets or files of repositories, by
 * whatever mount of their disk. Another program's data may lie in our data directory, too, and is
 * not meant.
 */
export async function holdsOurs(
  files: Pick<Files, "realPath" | "stat">,
  { dataDir, protectedPaths }: {
    readonly dataDir: string;
    readonly protectedPaths: readonly string[];
  },
  path: string,
): Promise<boolean> {
  const around = await placesAround(files, path);
  const [itself] = around;
  for (const mine of [dataDir, ...OF_THE_KERNEL, ...protectedPaths]) {
    const real = await files.realPath(mine) ?? mine;
    const [own, ...above] = await placesAround(files, real);
    if (above.some((each) => each.id === itself?.id)) return true;
    const found = around.find((each) => each.id === own?.id);
    if (found === undefined) continue;
    const [first = "", ...rest] = insideTree(path, found.path)?.split("/") ?? [];
    const isAnothers = mine === dataDir && rest.length > 0 && !OTHERS.includes(first);
    if (!isAnothers) return true;
  }
  return false;
}

/** A path and those above it, up to the root, with their ids; a missing one is its own. */
async function placesAround(files: Pick<Files, "stat">, path: string) {
  const places: { readonly path: string; readonly id: string }[] = [];
  for (let at = path;; at = dirname(at)) {
    places.push({ path: at, id: (await files.stat(at))?.id ?? at });
    if (at === dirname(at)) return places;
  }
}
