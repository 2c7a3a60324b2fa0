import type { Compose } from "../deploy/mod.ts";
import type { Engine, EngineInfo } from "../docker/engine.ts";
import type { InstanceKey } from "../record/instance_key.ts";
import type { Ledger } from "../record/ledger.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import type { Source } from "../source/source.ts";
import type { Clock, Commands, Files, Limiter, Log, Meter, WatchedLock } from "../system/mod.ts";
import type { TreeCollector } from "./collect_trees.ts";
import type { EncryptedFiles } from "./encrypted_files.ts";

/** What the pipeline is told by the settings. */
export interface PipelineOptions {
  /** Data directory as this process sees it. */
  readonly dataDir: string;
  /** The same directory as the engine's host sees it. */
  readonly hostDataDir: string;
  /** Further files and directories that no container may mount: where our secrets come from. */
  readonly protectedPaths: readonly string[];
  /** The socket that the engine is reached by, where it is one of this machine. */
  readonly engineSocket?: string;
  /** The file in which the engine client finds credentials for registries; it need not exist. */
  readonly clientConfigFile: string;
  /** Folder inside a source where configuration files are looked for; `/` is its root. */
  readonly configBaseDir: string;
  /** Whether repositories may name repositories on this machine (`ALLOW_LOCAL_REPOSITORY_URL`). */
  readonly allowLocalRepositoryUrl: boolean;
  /** Variables of our own environment that take part in interpolation (`PASS_ENV`); usually none. */
  readonly passedVariables: Readonly<Record<string, string>>;
  /** Commits of history to fetch where a deployment does not say; 0 is all. */
  readonly cloneDepth: number;
  /** Whether a failed release is replaced by its predecessor (`DEPLOY_ROLLBACK`). */
  readonly rollback: boolean;
  /** Good releases before the current one whose trees are kept (`ARTIFACT_GC_RETENTION_RECORDS`). */
  readonly treeRetention: number;
  /** How many good releases keep their images through pruning (`RELEASE_IMAGE_RETENTION`). */
  readonly imageRetention: number;
}

/** Everything the pipeline works with. */
export interface PipelineParts {
  /** Reads encrypted files in the clear. */
  readonly source: Source;
  /** Does the same for trees on disk. */
  readonly encrypted: EncryptedFiles;
  readonly trees: TreeCollector;
  readonly engine: Engine;
  /** The engine as it introduced itself; asked again after it was unreachable. */
  engineInfo(signal: AbortSignal): Promise<EngineInfo>;
  readonly compose: Compose;
  readonly ledger: Ledger;
  readonly key: InstanceKey;
  readonly secrets: ExternalSecrets;
  readonly files: Files;
  readonly commands: Commands;
  /** Where this process sees a path of the engine's host; `undefined` where it does not. */
  localPath(hostPath: string, signal: AbortSignal): Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Bounds everything that only reads and prepares. */
  readonly preparing: Limiter;
  /** Bounds everything that changes containers. */
  readonly deploying: Limiter;
  /** One deployment of a stack at a time. */
  readonly stackLock: WatchedLock;
  readonly options: PipelineOptions;
}
