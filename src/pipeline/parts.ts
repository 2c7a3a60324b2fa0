import {
  DEFAULT_CONTEXT,
  errors,
  isStackwrightError,
  type ObservedStack,
  type Progress,
  type ReleaseService,
  type RunEnd,
  type RunJob,
  type RunReporter,
  type SourcePlace,
  type SourceRequest,
  type StackKey,
  type TargetListener,
} from "../model/mod.ts";
import { askingHost, type Rollout } from "../deploy/mod.ts";
import type { EngineClient } from "../docker/mod.ts";
import type { InstanceKey } from "../record/instance_key.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import type { Hosts, PrepareOptions, PrepareParts } from "../prepare/mod.ts";
import type { SyncWindows } from "../plan/mod.ts";
import type { NewestCommits } from "../source/mod.ts";
import type {
  Commands,
  FairLimiter,
  KeyedLock,
  Limiter,
  Shares,
  Slot,
  WatchedLock,
} from "../system/mod.ts";
import type { TreeCollector } from "./collect_trees.ts";

/** Settings of the pipeline, beyond those of preparing. */
interface PipelineOptions extends PrepareOptions {
  /** Folder inside a source where configuration files are looked for; `/` is its root. */
  readonly configBaseDir: string;
  /** Whether repositories may name repositories on this machine (`ALLOW_LOCAL_REPOSITORY_URL`). */
  readonly allowLocalRepositoryUrl: boolean;
  /** Other addresses of a source by the operator's rewrite rules (`SOURCE_URL_REWRITES`). */
  readonly reachedAs?: (source: string) => readonly string[];
  /** Commits of history to fetch where a deployment does not say; 0 is all. */
  readonly cloneDepth: number;
  /** Whether a failed release is replaced by its predecessor (`DEPLOY_ROLLBACK`). */
  readonly rollback: boolean;
  /** Milliseconds for which containers without a health check are watched (`DEPLOY_WATCH`). */
  readonly watchMs: number;
  /** Old configs and secrets that a swarm stack keeps unless its deployment says; -1 is all. */
  readonly configRetention: number;
  readonly secretRetention: number;
  /** Number of good releases that keep their images through pruning (`RELEASE_IMAGE_RETENTION`). */
  readonly imageRetention: number;
  /** Number of good releases whose files other machines keep; infinite removes nothing. */
  readonly filesRetention: number;
  /** Whether what a sync window defers is queued until it opens (`SYNC_WINDOW_QUEUE`). */
  readonly queuesDeferred: boolean;
  readonly polled: readonly SourceRequest[];
  /** Time of the next poll of a place whose run ends now; `undefined` where no time says so. */
  readonly nextPoll: (place: SourcePlace) => Date | undefined;
}

/** Everything the pipeline works with. */
export interface PipelineParts extends PrepareParts {
  readonly trees: TreeCollector;
  /** The hosts of all contexts; that of the default context is open already. */
  readonly hosts: Hosts;
  readonly ledger: Ledger;
  /** What commits runs have looked at: one that waited may be late by then. */
  readonly newest: NewestCommits;
  readonly key: InstanceKey;
  readonly commands: Commands;
  /** Those who are told what becomes of targets, besides the record of the run. */
  readonly listeners: readonly TargetListener[];
  /** Bounds work that only reads and prepares. */
  readonly preparing: Limiter;
  /** Bounds waits for remotes, which give the slot of `preparing` back meanwhile. */
  readonly shares: Shares;
  /** Bounds work that changes containers. */
  readonly deploying: Limiter;
  /** Bounds looks at stacks after events, which authors may make many: sources take turns. */
  readonly looks: FairLimiter;
  /** Allows one deployment of a stack at a time. */
  readonly stackLock: WatchedLock;
  /** What the log has mentioned and need not say again: it comes up at every poll. */
  readonly mentioned: Set<string>;
  readonly windows: SyncWindows;
  /**
   * Whether intents that an earlier process left open on a context may still wait, for its engine
   * or for the next deployment of their stack; by default on all contexts but the default one.
   */
  readonly waitsFor?: (context: string) => boolean;
  readonly options: PipelineOptions;
}

/**
 * The same parts with the host of a stack's context. Finds out that its engine does not answer
 * before the stack takes a slot that stacks of other engines could use.
 *
 * Throws as {@link Hosts.of} does, and `config_invalid` for a context that does not exist or cannot
 * be used: the deployment is at fault then, not the service.
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
  return { ...parts, host, ...host.slots };
}

/**
 * Parts as {@link partsFor} has them, whose engine throws `internal` where it is to change something: for
 * what decides as a run does and must not act.
 */
export async function partsToLook(
  parts: PipelineParts,
  key: Pick<StackKey, "context">,
  signal: AbortSignal,
): Promise<PipelineParts> {
  const found = await partsFor(parts, key, signal);
  const refuse = () => {
    throw errors.internal("BUG: a plan was to change the engine; nothing was changed");
  };
  return { ...found, host: askingHost(found.host, refuse) };
}

/** A decided rollout, still without the state that it replaces. */
export interface DecidedRollout
  extends Pick<Rollout, "next" | "services" | "verify" | "timeoutSeconds"> {
  /** State of the stack when the plan was made. */
  readonly observed: ObservedStack;
  /** Images by service (swarm: with digests); a service without one keeps its image. */
  readonly images?: Readonly<Record<string, string>>;
  readonly removeOrphans: boolean;
  /** The services of the good release that a person rolls back: what it added goes in any case. */
  readonly undone?: readonly ReleaseService[] | undefined;
  /** Services of `next` that were kept orphans before; none by default. */
  readonly orphans?: readonly string[];
  readonly pruneImages: boolean;
  /** Whether no person asked for the rollout: then a failure counts for the retry policy. */
  readonly automatic: boolean;
  readonly progress: Progress;
  /** The slot among those for changing containers; absent where such work is not limited. */
  readonly slot?: Slot;
  /** The recorded release that it repeats, and whose owner's it stays; none by default. */
  readonly again?: RecordedRelease;
  /** Whether `next` is the current release, whose containers come back; false by default. */
  readonly isCurrent?: boolean;
  /** False keeps the remembered failure of another release; true by default. */
  readonly remembers?: boolean;
  /** Aborts the rollout if a person handed its stack to another owner meanwhile. */
  readonly ask?: () => void;
  /** Whether its success ends a pin that is there by then; false by default. */
  readonly unpins?: boolean;
  /** Whether its success ends a person's stop of before; false by default. */
  readonly starts?: boolean;
  /** What the history says of the release on success; `deployed` by default. */
  readonly note?: string;
}

/** Whether services can be listed: the engine may have left its swarm. */
export async function hasSwarm({ host }: PipelineParts, signal: AbortSignal): Promise<boolean> {
  return (await host.info(signal)).swarm === "manager";
}

/** Parts for running jobs, beside those of the pipeline. */
export interface JobParts {
  readonly engine: EngineClient;
  /** Records the exit code of a job's last run, if it is known, and whether it was refused. */
  readonly results: { set(work: RunJob, exitCode: number | undefined, wasRefused: boolean): void };
  /** Few containers are made at once: what an engine tells of their jobs may have megabytes. */
  readonly making: FairLimiter;
  /** Whether an abort means that another process takes runs over: then the container goes on. */
  readonly leaves: () => boolean;
  readonly nextId: () => string;
  /**
   * Lock of each source for looking up a job. A run that is refused ends at once: hundreds of them,
   * due each second, would keep the engine from answering others.
   */
  readonly looks: KeyedLock;
}

/** Runs a job; answers the run's end where the next process takes it over. */
export type PerformJob = (
  work: RunJob,
  reporter: RunReporter,
  jobs: JobParts,
  signal: AbortSignal,
) => Promise<RunEnd | void>;
