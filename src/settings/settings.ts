import type { PollEntry, SecretProviderOptions, SyncWindow } from "../config/mod.ts";
import type { AppCredentials, GitDomain } from "./git_domains.ts";

/** Values of LOG_LEVEL, least important first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** Values of LOG_FORMAT. */
export const LOG_FORMATS = ["auto", "text", "json"] as const;

/** One member of {@link LOG_FORMATS}. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Values of REMOTE_FILES. */
export const REMOTE_FILES_MODES = ["refuse", "volume"] as const;

/** One member of {@link REMOTE_FILES_MODES}. */
export type RemoteFilesMode = (typeof REMOTE_FILES_MODES)[number];

/** Least important level that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Files of the pair for HTTPS. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The address at which the main server listens: all that a health check needs to know. */
export interface ListenSettings {
  /** Address or name of an address of this machine. */
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | undefined;
}

/** Settings of the servers. */
export interface HttpSettings extends ListenSettings {
  readonly metricsHost: string;
  readonly metricsPort: number;
  readonly maxPayloadBytes: number;
  readonly mcpEnabled: boolean;
  readonly openApiEnabled: boolean;
  /** Networks in CIDR form. */
  readonly trustedProxyNetworks: readonly string[];
  readonly trustedProxyHeader: string;
}

/** Settings of Git sources. */
export interface GitSettings {
  readonly accessToken: string | undefined;
  readonly accessTokenUser: string;
  /** Lower-case hosts that may get the token; `undefined` means those of configured sources. */
  readonly accessTokenHosts: readonly string[] | undefined;
  readonly domains: readonly GitDomain[];
  /** The GitHub App for hosts without an entry of their own. */
  readonly app: AppCredentials | undefined;
  /** Commits of history; 0 is all. */
  readonly cloneDepth: number;
  readonly cloneSubmodules: boolean;
  /** Most bytes of one fetch, and of the files of one tree; 0 is no limit. */
  readonly maxBytes: number;
  readonly sshPrivateKey: string | undefined;
  readonly sshPrivateKeyPassphrase: string | undefined;
  readonly sshKnownHostsFile: string | undefined;
  readonly skipTlsVerification: boolean;
  /** From a URL, prefix or host (with a lower-case host) to its replacement. */
  readonly urlRewrites: Readonly<Record<string, string>>;
}

/** Settings of deployments. */
export interface DeploySettings {
  /** Where a repository's configuration is, relative to its root. */
  readonly configBaseDir: string;
  readonly passEnv: boolean;
  readonly maxConcurrentDeployments: number;
  readonly maxConcurrentPredeployments: number;
  readonly rollback: boolean;
  /** Milliseconds for which containers without a health check are watched. */
  readonly watchMs: number;
  readonly releaseImageRetention: number;
  readonly artifactGcEnabled: boolean;
  readonly artifactGcRetentionRecords: number;
  readonly allowLocalRepositoryUrl: boolean;
  readonly quiet: boolean;
  readonly recoverOnStartup: boolean;
  readonly schedulerEnabled: boolean;
  readonly swarmFeatures: boolean;
  /** Old revisions kept; -1 is all. */
  readonly swarmConfigRetention: number;
  readonly swarmSecretRetention: number;
  /** What becomes of files of the repository where an engine on another machine mounts them. */
  readonly remoteFiles: RemoteFilesMode;
}

/** Everything the environment decides, read once and frozen. Holds secrets: never log it. */
export interface Settings {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly timeZone: string;
  readonly apiSecret: string | undefined;
  /** The key that may only look. */
  readonly apiReadSecret: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly http: HttpSettings;
  readonly git: GitSettings;
  readonly deploy: DeploySettings;
  readonly polls: readonly PollEntry[];
  /** Times at which deployments may be made; an empty list is no restriction, `undefined` says nothing of it. */
  readonly syncWindows: readonly SyncWindow[] | undefined;
  /** Whether what a window defers is kept until it opens. */
  readonly syncWindowQueue: boolean;
  /** Where external secrets are; `undefined` when there are none. */
  readonly secretProvider: SecretProviderOptions | undefined;
  readonly proxy: {
    readonly http: string | undefined;
    readonly https: string | undefined;
    readonly noProxy: readonly string[];
  };
  readonly data: {
    readonly dir: string;
    /** The same directory on the engine's host; `undefined` means it has to be found out. */
    readonly hostDir: string | undefined;
  };
  /** Keys of encrypted files. */
  readonly sops: {
    /** Text with age identities, a line each. */
    readonly ageKey: string | undefined;
  };
  /** The engine client's own variables, as they are. */
  readonly docker: {
    readonly host: string | undefined;
    readonly apiVersion: string | undefined;
    readonly configDir: string | undefined;
    /** Credentials for registries, as `config.json` has them: `{"auths": {…}}`. */
    readonly authConfig: string | undefined;
    readonly tlsVerify: boolean;
    readonly certPath: string | undefined;
  };
  /** Files that settings with secrets were read from, and keys: no container may mount them. */
  readonly secretFiles: readonly string[];
  /** What was set in vain, a sentence each: to be logged as warnings at the start. */
  readonly notices: readonly string[];
}
