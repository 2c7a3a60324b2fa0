import type { DriftPolicy } from "./drift.ts";
import type { SourceKind } from "./revision.ts";

/** Build options of a deployment. */
export interface BuildOptions {
  readonly args: Readonly<Record<string, string>>;
  readonly forceImagePull: boolean;
  readonly quiet: boolean;
  readonly noCache: boolean;
}

/** Options of `destroy`. */
export interface DestroyOptions {
  readonly enabled: boolean;
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
}

/** Swarm mode and retention; `undefined` leaves the choice to the engine and the settings. */
export interface SwarmOptions {
  readonly enabled: boolean | undefined;
  readonly configRetention: number | undefined;
  readonly secretRetention: number | undefined;
}

/** Discovery of stacks below the working directory. */
export interface AutoDiscoveryOptions {
  readonly enabled: boolean;
  /** Levels below the working directory; 0 is unlimited. */
  readonly depth: number;
  readonly delete: boolean;
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
}

/** Automatic retry of a failed release. */
export interface RetryOptions {
  /** Retries after the original attempt; `undefined` is unlimited. */
  readonly limit: number | undefined;
  readonly delaySeconds: number;
}

/** Container actions that reconciliation can listen to, in their normal form. */
export type ReconciliationEvent =
  | "die"
  | "destroy"
  | "update"
  | "stop"
  | "kill"
  | "oom"
  | "unhealthy";

/** Reaction to container events. */
export interface ReconciliationOptions {
  /** What to do about changes by hand. */
  readonly drift: DriftPolicy;
  readonly enabled: boolean;
  readonly events: readonly ReconciliationEvent[];
  readonly restartTimeoutSeconds: number;
  /** Upper-case signal name, empty for the engine's default. */
  readonly restartSignal: string;
  readonly restartLimit: number;
  readonly restartWindowSeconds: number;
}

/** One identity that may have signed an OCI artifact without a key. */
export interface KeylessIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly subjectRegexp: string;
}

/** Per-target overrides of signature verification. */
export interface OciOptions {
  readonly verify: boolean | undefined;
  readonly keylessIdentities: readonly KeylessIdentity[];
  readonly publicKeys: readonly string[];
  readonly ignoreTlog: boolean | undefined;
}

/** The value of an external secret: a provider's own text, or fields of a webhook store. */
export type SecretReference =
  | { readonly kind: "text"; readonly text: string }
  | {
    readonly kind: "store";
    readonly storeRef: string;
    readonly remoteRef: Readonly<Record<string, string>>;
  };

/** One deployment configuration with defaults applied: texts as written, durations in seconds. */
export interface Deployment {
  /** Valid compose project name; empty only while auto-discovery is enabled. */
  readonly name: string;
  readonly source: SourceKind;
  readonly version: string;
  readonly repositoryUrl: string;
  readonly webhookFilter: string;
  /** Full or short reference; empty means the reference of the trigger. */
  readonly reference: string;
  /** POSIX path relative to the source root, `.` for the root; never leaves it. */
  readonly workingDir: string;
  /** Container context; empty for the default one. */
  readonly context: string;
  /** In merge order, or in lookup order when {@link Deployment.composeFilesGiven} is false. */
  readonly composeFiles: readonly string[];
  /** Whether the author listed the files: then each must exist, and all are merged. */
  readonly composeFilesGiven: boolean;
  /** Variables for interpolation in the compose files. May hold secrets: never log. */
  readonly environment: Readonly<Record<string, string>>;
  /** Dotenv files for interpolation, later ones win; `remote:` marks the deployed repository. */
  readonly envFiles: readonly string[];
  readonly removeOrphans: boolean;
  readonly pruneImages: boolean;
  readonly swarm: SwarmOptions;
  readonly waitRunningJobs: boolean;
  readonly forceRecreate: boolean;
  readonly forceImagePull: boolean;
  readonly timeoutSeconds: number;
  readonly build: BuildOptions;
  /** 0 means the global clone depth. */
  readonly gitDepth: number;
  readonly destroy: DestroyOptions;
  readonly profiles: readonly string[];
  readonly externalSecrets: Readonly<Record<string, SecretReference>>;
  readonly externalSecretsFiles: readonly string[];
  readonly autoDiscovery: AutoDiscoveryOptions;
  readonly retry: RetryOptions;
  readonly pause: boolean;
  readonly reconciliation: ReconciliationOptions;
  readonly oci: OciOptions;
}

/** A deployment configuration as somebody declared it. */
export interface DeclaredDeployment {
  readonly deployment: Deployment;
  /** Dotted key paths that its author wrote, to tell defaults from explicit values. */
  readonly given: ReadonlySet<string>;
  /** Whether it is of a file of doco-cd. */
  readonly isMigrated?: boolean;
}
