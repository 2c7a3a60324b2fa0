import {
  DEFAULT_CONTEXT,
  errors,
  isStackwrightError,
  type ObservedStack,
  type Progress,
  type SourceRequest,
  type StackKey,
  type TargetListener,
} from "../model/mod.ts";
import type { Rollout } from "../deploy/mod.ts";
import type { InstanceKey } from "../record/instance_key.ts";
import type { Ledger } from "../record/ledger.ts";
import type { Hosts, PrepareOptions, PrepareParts } from "../prepare/mod.ts";
import type { SyncWindows } from "../plan/mod.ts";
import type { Commands, Limiter, Shares, Slot, WatchedLock } from "../system/mod.ts";
import type { TreeCollector } from "./collect_trees.ts";

/** Settings of the pipeline, beyond those of preparing. */
interface PipelineOptions extends PrepareOptions {
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
  /** Old configs and secrets of a stack to keep where it does not say; -1 is all. */
  readonly configRetention: number;
  readonly secretRetention: number;
  /** Number of good releases that keep their images through pruning (`RELEASE_IMAGE_RETENTION`). */
  readonly imageRetention: number;
  /** The same for copies of files on other machines; infinite where nothing is removed. */
  readonly filesRetention: number;
  /** Whether what a sync window defers is kept until it opens (`SYNC_WINDOW_QUEUE`). */
  readonly queuesDeferred: boolean;
  /** The sources that are polled. */
  readonly polled: readonly SourceRequest[];
}

/** Everything the pipeline works with. */
export interface PipelineParts extends PrepareParts {
  readonly trees: TreeCollector;
  /** The hosts of all contexts; that of the default one is there already. */
  readonly hosts: Hosts;
  readonly ledger: Ledger;
  readonly key: InstanceKey;
  readonly commands: Commands;
  /** Everybody who is told what becomes of targets, besides the record of the run. */
  readonly listeners: readonly TargetListener[];
  /** Bounds everything that only reads and prepares. */
  readonly preparing: Limiter;
  /** What sources and remotes have of that while they are waited for. */
  readonly shares: Shares;
  /** Bounds everything that changes containers. */
  readonly deploying: Limiter;
  /** One deployment of a stack at a time. */
  readonly stackLock: WatchedLock;
  /** Files with the migration's name that the log has told of, with their repository. */
  readonly migrated: Set<string>;
  /** Times at which deployments may be made. */
  readonly windows: SyncWindows;
  /**
   * Whether something that an earlier process left open on a context may still wait, for its engine or
   * for whoever deploys its stack next; by default on all but the default one.
   */
  readonly waitsFor?: (context: string) => boolean;
  readonly options: PipelineOptions;
}

/**
 * The same parts with the host of a stack. An engine that does not answer is found out here, before
 * anything takes a turn from stacks of other engines.
 *
 * Throws as {@link Hosts.of} does, and `config_invalid` for a context that is not there or cannot be
 * used: the deployment is wrong then, not the service.
 */
export async function partsFor(
  parts: PipelineParts,
  { context }: Pick<StackKey, "context">,
  signal: AbortSignal,
): Promise<PipelineParts> {
  if (context === DEFAULT_CONTEXT) return parts;
  const host = await parts.hosts.of(context, signal).catch((error) => {
    const isAbout = (["bad_request", "settings_invalid"] as const).some((code) =>
      isStackwrightError(error, code)
    );
    if (!isAbout) throw error;
    throw errors.config_invalid(`${error.message}. Nothing was changed`);
  });
  await host.info(signal);
  return { ...parts, host, deploying: host.deploying ?? parts.deploying };
}

/** A rollout that was decided, before it is known what it replaces, and how it is remembered. */
export interface DecidedRollout
  extends Pick<Rollout, "next" | "services" | "verify" | "timeoutSeconds"> {
  /** What ran when the plan was made. */
  readonly observed: ObservedStack;
  /** Images of a stack with their digests, by service; where it has none a service keeps what it runs. */
  readonly images?: Readonly<Record<string, string>>;
  readonly removeOrphans: boolean;
  readonly pruneImages: boolean;
  /** Whether nobody asked for it in person: then a failure counts for the retry policy. */
  readonly automatic: boolean;
  readonly progress: Progress;
  /** The slot that it has among those that change containers; none where these are not counted. */
  readonly slot?: Slot;
  /** False keeps what is remembered of another release's failure; true by default. */
  readonly remembers?: boolean;
  /** What the history says about the release when it is good; `deployed` by default. */
  readonly note?: string;
}
