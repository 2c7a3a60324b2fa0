import type { PollEntry, SecretProviderOptions, SyncWindow } from "../config/mod.ts";
import type { DeploySettings } from "./deploy_settings.ts";
import type { GitSettings } from "./git_settings.ts";
import type { HttpSettings } from "./http_settings.ts";

/** Everything the environment decides, read once and frozen. Holds secrets: never log it. */
export interface Settings {
  /** Least important level that is logged. */
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly logFormat: "auto" | "text" | "json";
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
