import type { Clock, Files, Log } from "../../system/mod.ts";
import type { Git } from "../git/git.ts";
import type { CommitPlace } from "../git/repository.ts";
import type { ExpandOptions } from "./expanded_tree.ts";

/** Parts for publishing trees. */
export interface TreeParts {
  readonly files: Files;
  readonly clock: Clock;
  readonly git: Git;
  readonly log: Log | undefined;
  /** See {@link ExportParts.mostFilesWithoutGit}. */
  readonly mostFilesWithoutGit: number;
}

/** One tree to publish. */
export interface TreeJob {
  readonly place: CommitPlace;
  /** Where the tree is published. */
  readonly directory: string;
  /** Directory of all trees of the source. */
  readonly trees: string;
  readonly expand: Omit<ExpandOptions, "fetch" | "onUnknown">;
}
