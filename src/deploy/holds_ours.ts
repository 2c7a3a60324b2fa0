import { insideTree } from "../compose/mod.ts";
import type { Files } from "../system/mod.ts";

/** Show our environment and all that we have open, and some of their files never end. */
const OF_THE_KERNEL = ["/proc", "/sys", "/dev"];
/** Directories of the data directory with what other repositories gave. */
const OTHERS = ["sources", "releases"];

/**
 * Whether a real path leads to, or contains, our ledger, keys, secrets or files of repositories.
 * Another program's data may lie in our data directory, too, and is not meant.
 */
export async function holdsOurs(
  files: Pick<Files, "realPath">,
  { dataDir, protectedPaths }: {
    readonly dataDir: string;
    readonly protectedPaths: readonly string[];
  },
  path: string,
): Promise<boolean> {
  const realPath = async (each: string) => await files.realPath(each) ?? each;
  const data = await realPath(dataDir);
  if (insideTree(data, path) !== undefined) return true;
  const [first = "", ...rest] = insideTree(path, data)?.split("/") ?? [];
  if (first !== "" && (rest.length === 0 || OTHERS.includes(first))) return true;
  for (const each of [...OF_THE_KERNEL, ...protectedPaths]) {
    const real = await realPath(each);
    if (insideTree(path, real) !== undefined || insideTree(real, path) !== undefined) return true;
  }
  return false;
}
