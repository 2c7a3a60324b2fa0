import { basename, dirname, join } from "node:path/posix";
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
  const { tree, plan } = job;
  const root = join(job.scratch, "tree");
  const attributes = new Map([...tree.files].filter(([path]) => basename(path) === ATTRIBUTES));
  const hidden = Map.groupBy(attributes, ([, { part }]) => part);
  return await onDisk(job.scratch, async () => {
    await makeDirectories(files, root, [...plan.link.keys()].map(dirname), tree.roots);
    const notLinked = await linkFiles(files, job, (path) => !attributes.has(path), signal);
    for (const [part, paths] of withMore(plan.write, notLinked)) {
      const unseen = (hidden.get(part) ?? []).map(([path]) => path);
      await writePart(parts, { ...job, part, paths, hidden: unseen, root }, signal);
    }
    const left = await linkFiles(files, job, (path) => attributes.has(path), signal);
    const isWritten = (path: string) => left.has(path) || !plan.link.has(path);
    const rest = new Map([...attributes].filter(([path]) => isWritten(path)));
    await writeWithoutGit(files, root, rest, signal);
    return root;
  });
}

/**
 * Files that are in place only when git has written all others: it compares each file with each pattern in
 * them, which their author may have made to take hours, and mirrors override what they say.
 */
const ATTRIBUTES = ".gitattributes";

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

/** Links some files of the plan; returns those that could not be linked or were changed on disk. */
async function linkFiles(
  files: Files,
  { plan, base, scratch }: ExportJob,
  isMeant: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Map<string, TreeFile>> {
  const failed = new Map<string, TreeFile>();
  const root = join(scratch, "tree");
  const queue = plan.link.entries().filter(([path]) => isMeant(path));
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

/**
 * Writes files of a part but the hidden ones: a few simple ones without a git process, all others by git,
 * which refuses paths that no checkout may have, also of hidden files.
 */
async function writePart(parts: ExportParts, job: PartJob, signal: AbortSignal): Promise<void> {
  const { tree, paths, hidden, root } = job;
  const wanted = new Map<string, TreeFile>();
  for (const path of paths) {
    const file = tree.files.get(path);
    if (file !== undefined) wanted.set(path, file);
  }
  const isGits = wanted.size > parts.mostFilesWithoutGit || !areSimple(wanted);
  for (const path of hidden) wanted.delete(path);
  if (isGits) return await checkOut(parts, { ...job, paths: new Set(wanted.keys()) }, signal);
  await writeWithoutGit(parts.files, root, wanted, signal);
}

async function writeWithoutGit(
  files: Files,
  root: string,
  wanted: ReadonlyMap<string, TreeFile>,
  signal: AbortSignal,
): Promise<void> {
  await makeDirectories(files, root, [...wanted.keys()].map(dirname));
  await writeFiles(files, root, wanted, signal);
}
