import { basename, join } from "node:path/posix";
import { expandTree } from "./submodules.ts";
import type { ExpandedTree, ExpandOptions } from "./expanded_tree.ts";
import type { TreeJob, TreeParts } from "./tree_job.ts";

/** The newest tree of the same source that can be listed; links to its files are free. */
export async function findBase(
  { files }: TreeParts,
  { place, directory, trees, expand }: TreeJob,
  signal: AbortSignal,
): Promise<{ directory: string; tree: ExpandedTree } | undefined> {
  const names = (await files.list(trees)).filter((name) => /^[0-9a-f]{40}$/.test(name));
  let newest: { name: string; at: Date } | undefined;
  for (const name of names.filter((each) => each !== basename(directory))) {
    const info = await files.stat(join(trees, name));
    if (info?.kind !== "directory" || (newest !== undefined && info.modifiedAt <= newest.at)) {
      continue;
    }
    newest = { name, at: info.modifiedAt };
  }
  if (newest === undefined) return undefined;
  try {
    const object = await place.repository.objects.read(`${newest.name}^{commit}`, signal);
    if (object === undefined) return undefined;
    const options: ExpandOptions = { ...expand, fetch: false, onUnknown: () => {} };
    const tree = await expandTree({ ...place, commit: newest.name }, options, signal);
    return { directory: join(trees, newest.name), tree };
  } catch (error) {
    if (signal.aborted) throw error;
    // It only saves work; without it the whole tree is written.
    return undefined;
  }
}
