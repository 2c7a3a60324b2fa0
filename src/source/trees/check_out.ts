import { join } from "node:path/posix";
import { clip, errors, type StackwrightError } from "../../model/mod.ts";
import { type GitResult, localFailure } from "../git/git_result.ts";
import type { TreePart } from "./expanded_tree.ts";
import type { ExportParts, PartJob } from "./export_job.ts";

/** Lets git write files of one commit, by an index of its own, without ever making a checkout. */
export async function checkOut(
  { git, files }: ExportParts,
  { by, part, paths, hidden, scratch, root }: PartJob,
  signal: AbortSignal,
): Promise<void> {
  const where = {
    gitDir: part.repository.mirror.directory,
    by,
    workTree: join(root, part.prefix),
    indexFile: join(scratch, "index"),
  };
  await files.remove(where.indexFile);
  const read = await git.exporting({ ...where, args: ["read-tree", part.commit] }, signal);
  if (read.failure !== undefined) throw refusal(read, scratch, part);
  const listed = (all: Iterable<string>) =>
    [...all].map((path) => `${path.slice(part.prefix.length)}\0`).join("");
  if (hidden.length > 0) {
    const hide = {
      args: ["update-index", "--force-remove", "-z", "--stdin"],
      stdin: listed(hidden),
    };
    const done = await git.exporting({ ...where, ...hide }, signal);
    if (done.failure !== undefined) throw refusal(done, scratch, part);
  }
  const args = ["checkout-index", "-z", "--stdin"];
  const stdin = listed(paths);
  const argsAgain = [...args, "--force"];
  const written = await git.exporting({ ...where, args, argsAgain, stdin }, signal);
  if (written.code !== 0 || /^(?:error|fatal):/m.test(written.stderr)) {
    throw refusal(written, scratch, part);
  }
}

function refusal(result: GitResult, scratch: string, part: TreePart): StackwrightError {
  const said = clip(result.stderr.trim().split("\n").slice(0, 3).join("; "), 300);
  if (/invalid path/i.test(said)) {
    return errors.source_invalid(
      `the commit ${part.commit} holds a path that no checkout may create: ${said}`,
    );
  }
  const isDisk = result.failure === "disk" ||
    /unable to (?:write|create)|cannot create|could not write/i.test(said);
  if (!isDisk) return localFailure(result, `exporting ${part.commit}`);
  return errors.data_dir_unusable(
    `writing below ${scratch} failed: ${said}; is the disk full, or not writable?`,
  );
}
