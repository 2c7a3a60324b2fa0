import { posix } from "node:path";
import { isConfigFileName, measuredScope } from "../../config/mod.ts";
import type { DiscoveredStack } from "../../model/mod.ts";
import type { Expansion } from "../expand_deployments.ts";
import type { PipelineParts } from "../parts.ts";

/**
 * What a repository still has at the directory of a stack that no discovery finds there, in words: a link or a
 * submodule, which none follows, or the compose file by which it was found, or what may be one, of a name that none
 * looks for. Nothing where another stack is found there: the name is another one, or the context.
 */
export async function stillThere(
  { source }: Pick<PipelineParts, "source">,
  { repository, directory, files: known = [] }: Pick<
    DiscoveredStack,
    "repository" | "directory" | "files"
  >,
  { scans, deployments }: Pick<Expansion, "scans" | "deployments">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isFound = deployments.some(({ found }) =>
    found?.stack.directory === directory && found.stack.repository === repository
  );
  if (isFound) return undefined;
  for (const { base: { deployment: { workingDir } }, revision } of scans) {
    if (revision.source.name !== repository) continue;
    // What lies above is followed.
    const { root } = measuredScope({ workingDir, depth: 0 });
    const entries = await source.entries(revision, placesBelow(root, directory), signal);
    for (const [path, { kind }] of entries) {
      if (kind !== "symlink" && kind !== "submodule") continue;
      return `${path} is a ${kind} now, which no discovery follows`;
    }
    if (entries.get(directory)?.kind !== "directory") continue;
    const files = await source.list(revision, directory, signal);
    const found = new Set(known.map((each) => posix.join(directory, each)));
    const isIt = (path: string) => found.has(path) || mayBeComposeFile(directory, path);
    const file = files.keys().find(isIt);
    if (file !== undefined) return `${file} is still there, which no discovery looks for`;
  }
  return undefined;
}

/** A directory, and those above it as far as to a root. */
function placesBelow(root: string, directory: string): string[] {
  const isIn = root === "." || directory === root || directory.startsWith(`${root}/`);
  if (!isIn) return [];
  const all = directory.split("/").map((_, at, parts) => parts.slice(0, at + 1).join("/"));
  return directory === root
    ? [root]
    : all.filter((each) => root === "." || each.length > root.length);
}

function mayBeComposeFile(directory: string, path: string): boolean {
  const { dir, base, ext } = posix.parse(path);
  return posix.join(dir, ".") === directory && /^\.ya?ml$/i.test(ext) && !isConfigFileName(base);
}
