import { errors } from "../../model/mod.ts";
import { createPauses } from "../../system/mod.ts";
import { type CommitPlace, withRepair } from "../git/repository.ts";
import type { TreeEntry } from "../source.ts";
import {
  AT_ONCE,
  MOST_ENTRIES,
  newDirectories,
  requireShort,
  tooManyEntries,
} from "../git/tree_object.ts";
import type { ExpandedTree, ExpandOptions, TreeFile, TreePart } from "./expanded_tree.ts";
import { firstPart, openModules, rootOf } from "./open_submodules.ts";

/** Most repositories of one tree: commits that name each other's would else expand without end. */
const MOST_PARTS = 500;
/** Most characters of all paths together, as of the listing of one commit: they are in memory at once. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/**
 * Lists a commit with everything its submodules bring, fetching their pinned commits.
 *
 * Throws what fetching throws, with the path of the submodule in front, `source_invalid` when they
 * nest deeper than {@link DEEPEST_SUBMODULE}, or when there are too many of them, of their files, of the
 * bytes in these or of the characters of a path or of all. Pauses during long listings.
 */
export async function expandTree(
  place: CommitPlace,
  options: ExpandOptions,
  signal: AbortSignal,
): Promise<ExpandedTree> {
  const files = new Map<string, TreeFile>();
  const roots: string[] = [];
  let count = 0;
  const see = createCount(options.mostBytes);
  const pauses = createPauses(AT_ONCE);
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
      const whole = part.prefix + path;
      see(whole, 1 + newDirectories(previous, path).length, entry.size);
      previous = path;
      if (entry.kind === "submodule") modules.set(path, entry.id);
      else files.set(whole, { ...entry, kind: fileKind(entry), part });
      await pauses.after(whole.length);
    }
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

/**
 * Counts what all parts of a tree bring, path by path, and refuses too much. A pack of a megabyte can
 * expand to any number of files with a gigabyte of zeros; ten small repositories in each other, to any
 * number of paths, each as long as all of their directories together.
 */
function createCount(mostBytes: number) {
  let [entries, bytes, characters] = [0, 0, 0];
  return (path: string, more: number, size: number): void => {
    requireShort(path);
    entries += more;
    bytes += size;
    characters += path.length;
    if (entries > MOST_ENTRIES) throw tooManyEntries();
    if (characters > MOST_CHARACTERS) {
      throw errors.source_invalid(
        `the paths of the tree have more than ${MOST_CHARACTERS} characters, those in submodules ` +
          "included; deploy from a smaller repository",
      );
    }
    if (mostBytes === 0 || bytes <= mostBytes) return;
    throw errors.source_invalid(
      `the files of the tree have more than the ${mostBytes} bytes of GIT_MAX_BYTES; deploy from a ` +
        "smaller repository, or raise the setting",
    );
  };
}

function fileKind(entry: TreeEntry): TreeFile["kind"] {
  return entry.kind === "executable" || entry.kind === "symlink" ? entry.kind : "file";
}
