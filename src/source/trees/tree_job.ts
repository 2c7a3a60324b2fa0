import type { Clock, DiskShares, Log } from "../../system/mod.ts";
import type { CommitPlace } from "../git/repository.ts";
import type { ExpandOptions } from "./expanded_tree.ts";
import type { ExportParts } from "./export_job.ts";

/** Parts for publishing trees. */
export interface TreeParts extends ExportParts {
  readonly clock: Clock;
  readonly disk: DiskShares;
  readonly log: Log | undefined;
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
