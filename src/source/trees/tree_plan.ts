import type { ExpandedTree, TreeFile, TreePart } from "./expanded_tree.ts";

/** A plan for making a tree: what it shares with an earlier one, and what is written. */
export interface TreePlan {
  /** Paths whose files can be hard links to those of the base. */
  readonly link: ReadonlyMap<string, TreeFile>;
  /** Paths to write, by the part they come from. */
  readonly write: ReadonlyMap<TreePart, readonly string[]>;
}

/**
 * Compares a tree with one that is on disk already. Files with equal content and mode are shared;
 * links are always written, because making a hard link to a symbolic link differs between systems.
 */
export function planTree(next: ExpandedTree, base: ExpandedTree | undefined): TreePlan {
  const link = new Map<string, TreeFile>();
  const write = new Map<TreePart, string[]>();
  for (const [path, file] of next.files) {
    const old = base?.files.get(path);
    if (file.kind !== "symlink" && old?.id === file.id && old.kind === file.kind) {
      link.set(path, file);
    } else {
      write.getOrInsertComputed(file.part, () => []).push(path);
    }
  }
  return { link, write };
}
