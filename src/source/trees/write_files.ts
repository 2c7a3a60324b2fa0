import { join } from "node:path/posix";
import type { Files } from "../../system/mod.ts";
import type { TreeFile } from "./expanded_tree.ts";
import { wholeUtf8 } from "../../model/mod.ts";

/** Most bytes in all files that are written without git: they pass through this process. */
const MOST_BYTES = 4 * 1024 * 1024;
const PARALLEL_WRITES = 16;

/**
 * True when files can be written by {@link writeFiles}: small ones with plain names. All others are left
 * to git, which knows how file systems treat unusual names.
 */
export function areSimple(files: ReadonlyMap<string, TreeFile>): boolean {
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return bytes <= MOST_BYTES && [...files.keys()].every(isPlain);
}

const ORDINARY_GIT_FILES: ReadonlySet<string> = new Set([
  ".gitattributes",
  ".gitignore",
  ".gitkeep",
]);

function isPlain(path: string): boolean {
  return /^[ -~]+$/.test(path) && !/[\\:]/.test(path) &&
    path.split("/").every((name) => !/^\.?git/i.test(name) || ORDINARY_GIT_FILES.has(name));
}

/**
 * Writes files and links of a tree below `root`, whose directories exist, exactly as a checkout
 * would: mirrors convert nothing, so a file is its object. What is written is on the disk when this
 * returns, so that a loss of power leaves no tree of empty files.
 *
 * Throws the error of a damaged mirror, and what the file system throws.
 */
export async function writeFiles(
  files: Files,
  root: string,
  wanted: ReadonlyMap<string, TreeFile>,
  signal: AbortSignal,
): Promise<void> {
  const queue = wanted.entries();
  async function work(): Promise<void> {
    for (const [path, file] of queue) await writeFile(files, join(root, path), file, signal);
  }
  await Promise.all(Array.from({ length: PARALLEL_WRITES }, work));
}

async function writeFile(
  files: Files,
  path: string,
  { id, size, kind, part }: TreeFile,
  signal: AbortSignal,
): Promise<void> {
  const content = await part.repository.paths.content(id, size, signal);
  if (kind === "symlink") return await files.replaceLink(wholeUtf8(content), path);
  const mode = kind === "executable" ? 0o755 : 0o644;
  await files.write(path, content, { mode });
  // The mask of this process may have taken bits away.
  await files.chmod(path, mode);
}
