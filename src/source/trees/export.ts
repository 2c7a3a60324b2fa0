import { dirname, join } from "node:path/posix";
import type { Files } from "../../system/mod.ts";
import { diskCode, onDisk } from "../disk_error.ts";
import type { TreeFile, TreePart } from "./expanded_tree.ts";
import type { TreePlan } from "./tree_plan.ts";
import { areSimple, writeFiles } from "./write_files.ts";
import { checkOut } from "./check_out.ts";
import type { ExportJob, ExportParts, PartJob } from "./export_job.ts";

/** Number of files that are linked at the same time. */
const PARALLEL_LINKS = 16;
const LINKING_REFUSED = new Set([
  "EEXIST",
  "EMLINK",
  "ENOENT",
  "ENOSYS",
  "ENOTDIR",
  "ENOTSUP",
  "EOPNOTSUPP",
  "EPERM",
  "EXDEV",
]);

/**
 * Writes a tree below `scratch` and returns its directory. Files that cannot be linked are written.
 *
 * Throws `data_dir_unusable` when the disk refuses and `source_invalid` when git refuses a path.
 */
export async function exportTree(
  parts: ExportParts,
  job: ExportJob,
  signal: AbortSignal,
): Promise<string> {
  const { files } = parts;
  const root = join(job.scratch, "tree");
  return await onDisk(job.scratch, async () => {
    await makeDirectories(files, root, [...job.plan.link.keys()].map(dirname), job.tree.roots);
    const notLinked = await linkFiles(files, job, root, signal);
    for (const [part, paths] of withMore(job.plan.write, notLinked)) {
      await writePart(parts, { ...job, part, paths, root }, signal);
    }
    return root;
  });
}

/** Makes directories of a tree, named from its root, and all above them. */
async function makeDirectories(
  files: Files,
  root: string,
  ...paths: readonly (readonly string[])[]
): Promise<void> {
  const wanted = new Set<string>();
  for (const path of paths.flat()) {
    for (let at = path; at !== "." && !wanted.has(at); at = dirname(at)) wanted.add(at);
  }
  for (const path of [root, ...[...wanted].sort().map((each) => join(root, each))]) {
    await files.makeDirectory(path, { mode: 0o755 });
    // The mask of this process may have taken bits away.
    await files.chmod(path, 0o755);
  }
}

/** Links the files of the plan; returns those that could not be linked or were changed on disk. */
async function linkFiles(
  files: Files,
  { plan, base }: ExportJob,
  root: string,
  signal: AbortSignal,
): Promise<Map<string, TreeFile>> {
  const failed = new Map<string, TreeFile>();
  const queue = plan.link.entries();
  async function work(): Promise<void> {
    for (const [path, file] of queue) {
      signal.throwIfAborted();
      if (!await linkFile(files, { from: join(base, path), to: join(root, path), file })) {
        failed.set(path, file);
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_LINKS }, work));
  return failed;
}

async function linkFile(
  files: Files,
  { from, to, file }: { from: string; to: string; file: TreeFile },
): Promise<boolean> {
  const info = await files.stat(from);
  const mode = file.kind === "executable" ? 0o755 : 0o644;
  // A damaged file must not spread into new trees.
  if (info?.kind !== "file" || info.size !== file.size || info.mode !== mode) return false;
  try {
    await files.link(from, to);
    return true;
  } catch (error) {
    if (LINKING_REFUSED.has(diskCode(error))) return false;
    throw error;
  }
}

function withMore(
  write: TreePlan["write"],
  more: ReadonlyMap<string, TreeFile>,
): ReadonlyMap<TreePart, ReadonlySet<string>> {
  const all = new Map([...write].map(([part, paths]) => [part, new Set(paths)]));
  for (const [path, { part }] of more) all.getOrInsertComputed(part, () => new Set()).add(path);
  return all;
}

/** Writes a few simple files without a git process; leaves all others to git. */
async function writePart(parts: ExportParts, job: PartJob, signal: AbortSignal): Promise<void> {
  const { tree, paths, root } = job;
  const wanted = new Map<string, TreeFile>();
  for (const path of paths) {
    const file = tree.files.get(path);
    if (file !== undefined) wanted.set(path, file);
  }
  const isFew = wanted.size <= parts.mostFilesWithoutGit;
  if (!isFew || !areSimple(wanted)) return await checkOut(parts, job, signal);
  await makeDirectories(parts.files, root, [...paths].map(dirname));
  await writeFiles(parts.files, root, wanted, signal);
}
