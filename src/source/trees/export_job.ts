import type { Files } from "../../system/mod.ts";
import type { Git } from "../git/git.ts";
import type { ExpandedTree, TreePart } from "./expanded_tree.ts";
import type { TreePlan } from "./tree_plan.ts";

/** Parts of an export. */
export interface ExportParts {
  readonly files: Files;
  readonly git: Git;
  /** Most files of one part that are written without git; 0 leaves all to git. */
  readonly mostFilesWithoutGit: number;
}

/** One tree to write. */
export interface ExportJob {
  readonly tree: ExpandedTree;
  readonly plan: TreePlan;
  /** Directory of the tree the links of the plan lead to. */
  readonly base: string;
  /** Whose work it is, by which what it takes is counted. */
  readonly by: string;
  /** Existing, empty directory on the same file system as `base`. */
  readonly scratch: string;
}

/** The files of one part of a tree, to be written below `root`. */
export interface PartJob extends ExportJob {
  readonly part: TreePart;
  /** From the root of the whole tree. */
  readonly paths: ReadonlySet<string>;
  /** Files of the part that git must not see, and that somebody else writes afterwards. */
  readonly hidden: readonly string[];
  readonly root: string;
}
