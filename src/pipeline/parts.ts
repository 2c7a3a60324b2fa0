import type { TargetListener } from "../model/mod.ts";
import type { InstanceKey } from "../record/instance_key.ts";
import type { Ledger } from "../record/ledger.ts";
import type { PrepareOptions, PrepareParts } from "../prepare/mod.ts";
import type { SyncWindows } from "../plan/mod.ts";
import type { Commands, Limiter, WatchedLock } from "../system/mod.ts";
import type { TreeCollector } from "./collect_trees.ts";

/** Settings of the pipeline, beyond those of preparing. */
export interface PipelineOptions extends PrepareOptions {
  /** Folder inside a source where configuration files are looked for; `/` is its root. */
  readonly configBaseDir: string;
  /** Whether repositories may name repositories on this machine (`ALLOW_LOCAL_REPOSITORY_URL`). */
  readonly allowLocalRepositoryUrl: boolean;
  /** Commits of history to fetch where a deployment does not say; 0 is all. */
  readonly cloneDepth: number;
  /** Whether a failed release is replaced by its predecessor (`DEPLOY_ROLLBACK`). */
  readonly rollback: boolean;
  /** Milliseconds for which containers without a health check are watched (`DEPLOY_WATCH`). */
  readonly watchMs: number;
  /** Good releases before the current one whose trees are kept (`ARTIFACT_GC_RETENTION_RECORDS`). */
  readonly treeRetention: number;
  /** Old configs and secrets of a stack to keep where it does not say; -1 is all. */
  readonly configRetention: number;
  readonly secretRetention: number;
  /** How many good releases keep their images through pruning (`RELEASE_IMAGE_RETENTION`). */
  readonly imageRetention: number;
  /** Whether what a sync window defers is kept until it opens (`SYNC_WINDOW_QUEUE`). */
  readonly queuesDeferred: boolean;
}

/** Everything the pipeline works with. */
export interface PipelineParts extends PrepareParts {
  readonly trees: TreeCollector;
  readonly ledger: Ledger;
  readonly key: InstanceKey;
  readonly commands: Commands;
  /** Everybody who is told what becomes of targets, besides the record of the run. */
  readonly listeners: readonly TargetListener[];
  /** Bounds everything that only reads and prepares. */
  readonly preparing: Limiter;
  /** Bounds everything that changes containers. */
  readonly deploying: Limiter;
  /** One deployment of a stack at a time. */
  readonly stackLock: WatchedLock;
  /** When deployments may be made. */
  readonly windows: SyncWindows;
  readonly options: PipelineOptions;
}
