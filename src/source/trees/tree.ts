import { basename, join } from "node:path/posix";
import type { Files } from "../../system/mod.ts";
import { shortId, wholeUtf8 } from "../../model/mod.ts";
import { diskCode, onDisk } from "../disk_error.ts";
import { exportTree } from "./export.ts";
import { isDamaged } from "../git/git_failure.ts";
import { withRepair } from "../git/repository.ts";
import { expandTree } from "./submodules.ts";
import type { ExpandedTree, ExpandOptions } from "./expanded_tree.ts";
import { checkLinks, checkLinkSizes } from "./tree_links.ts";
import { planTree, type TreePlan } from "./tree_plan.ts";
import { warnOfPointers } from "./warn_of_pointers.ts";
import type { TreeJob, TreeParts } from "./tree_job.ts";

const SCRATCH = ".tmp-";
const ABANDONED_MS = 60 * 60 * 1000;
/** Bytes below which free space is not checked first; a full disk refuses them anyway. */
const FEW_BYTES = 64 * 1024 * 1024;
const FEW_ENTRIES = 10_000;

/**
 * True when the tree is on disk as it was published. A container engine that found the directory
 * gone made an empty one, or one with just the paths it wanted, so the names at the root are
 * compared.
 */
async function isPublished(
  { files }: TreeParts,
  { place, directory }: TreeJob,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await files.stat(directory))?.kind !== "directory") return false;
  const names = new Set(await files.list(directory));
  const { paths } = place.repository;
  try {
    const wanted = await paths.directory(await paths.root(place.commit, signal), signal);
    return [...wanted.keys()].every((name) => names.has(name));
  } catch (error) {
    // A tree outlives its mirror: the next fetch repairs a damaged mirror.
    if (isDamaged(error)) return names.size > 0;
    throw error;
  }
}

/**
 * Makes the tree beside its place and renames it there, so that a tree is whole or not there. Call
 * it for one revision at a time; another process may win, which is as good.
 */
async function publishTree(parts: TreeParts, job: TreeJob, signal: AbortSignal): Promise<void> {
  const { files } = parts;
  await onDisk(job.trees, async () => {
    await files.makeDirectory(job.trees);
    await sweep(parts, job.trees);
  });
  const tree = await expandNew(parts, job, signal);
  await checkTree(job, tree, signal);
  const scratch = await onDisk(
    job.trees,
    () => files.makeTemporaryDirectory(join(job.trees, SCRATCH)),
  );
  try {
    const base = await findBase(parts, job, signal);
    const plan = planTree(tree, base?.tree);
    const write = (within: AbortSignal) =>
      withRepair(job.place, within, async () => {
        await files.remove(join(scratch, "tree"));
        const { by } = job.expand;
        return await exportTree(
          parts,
          { tree, plan, base: base?.directory ?? "", by, scratch },
          within,
        );
      });
    const use = useOf(plan, tree);
    const made = use === undefined ? await write(signal) : await parts.disk.run(
      { path: job.trees, owner: job.expand.by, isNew: false, ...use },
      (within) =>
        write(within).catch(async (error) => {
          await files.remove(join(scratch, "tree"));
          throw error;
        }),
      signal,
    );
    const written = [...plan.write.values()].flat();
    await warnOfPointers(parts, { tree, written, made }, job);
    // Another process was faster: its tree may be mounted already, so it stays.
    if (await isPublished(parts, job, signal)) return;
    await onDisk(job.trees, () => swap(files, made, { directory: job.directory, scratch }));
  } finally {
    await files.remove(scratch);
  }
}

async function expandNew(
  { log }: TreeParts,
  { place, expand }: TreeJob,
  signal: AbortSignal,
): Promise<ExpandedTree> {
  const onUnknown = (path: string) =>
    log?.warning(`submodule ${path} has no URL in .gitmodules; its directory stays empty`, {
      repository: expand.source.name,
      revision: shortId(place.commit),
    });
  return await expandTree(place, { ...expand, fetch: true, onUnknown }, signal);
}

/** What a plan takes of the disk; `undefined` below {@link FEW_BYTES} and {@link FEW_ENTRIES}. */
function useOf({ write }: TreePlan, { files }: ExpandedTree) {
  const paths = [...write.values()].flat();
  const bytes = paths.reduce((sum, path) => sum + (files.get(path)?.size ?? 0), 0);
  const isFew = bytes < FEW_BYTES && paths.length < FEW_ENTRIES;
  return isFew ? undefined : { bytes, entries: paths.length };
}

/** Refuses a tree with a link that leaves it, before anything is written. */
async function checkTree({ place }: TreeJob, { files }: ExpandedTree, signal: AbortSignal) {
  const found = [...files].filter(([, { kind }]) => kind === "symlink");
  checkLinkSizes(new Map(found.map(([path, { size }]) => [path, size])));
  const links = new Map<string, string>();
  for (const [path, file] of found) {
    const read = () => file.part.repository.paths.content(file.id, file.size, signal);
    const target = await withRepair({ ...place, ...file.part }, signal, read);
    links.set(path, wholeUtf8(target));
  }
  await checkLinks(links);
}

/** Publishes a missing tree, or marks a present one as used; not twice at once for one revision. */
export async function ensureTree(
  parts: TreeParts,
  job: TreeJob,
  signal: AbortSignal,
): Promise<void> {
  if (!await isPublished(parts, job, signal)) return await publishTree(parts, job, signal);
  await onDisk(job.directory, () => touchIfThere(parts.files, job.directory));
  // Another process may have removed it in the moment before it was touched.
  if (!await isPublished(parts, job, signal)) await publishTree(parts, job, signal);
}

/** Marks a tree as used; ignores one that another process just removed. */
async function touchIfThere(files: Files, path: string): Promise<void> {
  try {
    await files.touch(path);
  } catch (error) {
    if (diskCode(error) !== "ENOENT") throw error;
  }
}

/** Puts the new tree in place of one that is damaged, or another process's equal one, if any. */
async function swap(
  files: Files,
  made: string,
  { directory, scratch }: { directory: string; scratch: string },
): Promise<void> {
  if (await files.stat(directory) !== undefined) {
    await files.rename(directory, join(scratch, "replaced"));
  }
  try {
    await files.rename(made, directory);
  } catch (error) {
    const code = diskCode(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

async function sweep({ files, clock }: TreeParts, trees: string): Promise<void> {
  const limit = clock.now().getTime() - ABANDONED_MS;
  for (const name of await files.list(trees)) {
    if (!name.startsWith(SCRATCH)) continue;
    const info = await files.stat(join(trees, name));
    if (info !== undefined && info.modifiedAt.getTime() < limit) {
      await files.remove(join(trees, name));
    }
  }
}

/** The newest tree of the same source that can be listed; links to its files are free. */
async function findBase(
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
    if (await place.repository.objects.commit(newest.name, signal) === undefined) return undefined;
    const options: ExpandOptions = { ...expand, fetch: false, onUnknown: () => {} };
    const tree = await expandTree({ ...place, commit: newest.name }, options, signal);
    return { directory: join(trees, newest.name), tree };
  } catch (error) {
    if (signal.aborted) throw error;
    // A base only saves work; without it the whole tree is written.
    return undefined;
  }
}
