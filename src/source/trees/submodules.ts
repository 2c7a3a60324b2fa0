import { errors, type StackwrightError } from "../../model/mod.ts";
import { type CommitPlace, withRepair } from "../git/repository.ts";
import type { TreeEntry } from "../source.ts";
import { MOST_ENTRIES, newDirectories, tooManyEntries } from "../git/tree_object.ts";
import type { ExpandedTree, ExpandOptions, TreeFile, TreePart } from "./expanded_tree.ts";
import { firstPart, openModules, rootOf } from "./open_submodules.ts";

/** Most repositories of one tree: commits that name each other's would else expand without end. */
const MOST_PARTS = 500;

/**
 * Lists a commit with everything its submodules bring, fetching their pinned commits.
 *
 * Throws what fetching throws, with the path of the submodule in front, `source_invalid` when they
 * nest deeper than {@link DEEPEST_SUBMODULE}, or when there are too many of them, of their files or of
 * the bytes in these.
 */
export async function expandTree(
  place: CommitPlace,
  options: ExpandOptions,
  signal: AbortSignal,
): Promise<ExpandedTree> {
  const files = new Map<string, TreeFile>();
  const roots: string[] = [];
  let count = 0;
  let bytes = 0;
  let entryCount = 0;
  const root = rootOf(options.source);
  const parts: { part: TreePart; level: number }[] = [{
    part: firstPart(place, options.source),
    level: 0,
  }];
  for (let next = parts.shift(); next !== undefined; next = parts.shift()) {
    const { part, level } = next;
    const entries = await withRepair(
      part,
      signal,
      () => part.repository.listings.list(part.commit, signal),
    );
    const modules = new Map<string, string>();
    let previous = "";
    for (const [path, entry] of entries) {
      entryCount += 1 + newDirectories(previous, path).length;
      previous = path;
      if (entry.kind === "submodule") modules.set(path, entry.id);
      else files.set(part.prefix + path, { ...entry, kind: fileKind(entry), part });
      bytes += entry.size;
    }
    if (options.mostBytes > 0 && bytes > options.mostBytes) throw tooManyBytes(options.mostBytes);
    if (entryCount > MOST_ENTRIES) throw tooManyEntries();
    roots.push(...[...modules.keys()].map((path) => part.prefix + path));
    if (!options.submodules || modules.size === 0) continue;
    count += modules.size;
    if (count > MOST_PARTS) {
      const message =
        `the tree has more than ${MOST_PARTS} submodules, those inside others included`;
      throw errors.source_invalid(message);
    }
    const found = await openModules(part, modules, { ...options, level, root }, signal);
    parts.push(...found.map((each) => ({ part: each, level: level + 1 })));
  }
  return { files, roots };
}

/** A pack of a megabyte can expand to any number of files with a gigabyte of zeros. */
function tooManyBytes(most: number): StackwrightError {
  return errors.source_invalid(
    `the files of the tree have more than the ${most} bytes of GIT_MAX_BYTES; deploy from a smaller ` +
      "repository, or raise the setting",
  );
}

function fileKind(entry: TreeEntry): TreeFile["kind"] {
  return entry.kind === "executable" || entry.kind === "symlink" ? entry.kind : "file";
}
