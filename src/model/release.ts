import type { Revision } from "./revision.ts";
import type { StackKey } from "./stack_key.ts";

/**
 * The rendered compose model, as `docker compose config --format json` prints it. May hold secrets.
 */
export type ComposeModel = { readonly [key: string]: unknown };

/** Conditions of a started service that must hold before its release counts as good. */
export interface ServiceExpectation {
  /** Number of containers that the release wants; 0 means none may run. */
  readonly replicas: number;
  /** Whether a container that stopped is restarted by the engine (`always`, `unless-stopped`). */
  readonly restarts: boolean;
  /** Whether exit code 0 is a good end: policy unset, `no` or `on-failure`. */
  readonly mayFinish: boolean;
  /** Whether the deployment waits for the end: `one_shot`, or somebody needs its completion. */
  readonly oneShot: boolean;
  /** Whether the deployment starts it: false for `autostart: false` and for job services. */
  readonly autostart: boolean;
}

/** The names and networks by which others find containers of a service. */
export interface ServicePlace {
  /** The name that the author chose for its container; empty where compose chooses. */
  readonly containerName: string;
  /** Names of the networks it is in, as the engine knows them. */
  readonly networks: readonly string[];
}

/**
 * Mounted files whose changes a service wants to see without being replaced (`recreate.ignore`).
 */
interface InPlaceFiles {
  /** Content by path in the tree, as in {@link ReleaseService.inputs}. */
  readonly files: Readonly<Record<string, string>>;
  /** Signal that tells the service of a change; absent when it finds out by itself. */
  readonly signal?: string;
}

/**
 * One service of a release: what it is, and a digest of everything that can change its container.
 */
export interface ReleaseService {
  readonly name: string;
  /** Keyed digest; the value of the `stackwright.digest` label. */
  readonly digest: string;
  /**
   * The parts of the digest, by what they are: `definition`, `file:<path>`, `build:<path>`,
   * `follows:<service>`. They answer "which input changed, from what to what".
   */
  readonly inputs: Readonly<Record<string, string>>;
  readonly expectation: ServiceExpectation;
  /** Image reference; the name compose gives it when the service is only built. */
  readonly image: string;
  readonly builds: boolean;
  /** Images that it needs beside its own and that the release does not build; absent without any. */
  readonly sideImages?: readonly string[];
  /** What changes in place instead of replacing the container; absent when nothing does. */
  readonly inPlace?: InPlaceFiles;
  /** Services whose replacement replaces this one, with the reason (`shares the network of db`). */
  readonly follows: Readonly<Record<string, string>>;
  /** Services that must be handled before this one. */
  readonly dependsOn: readonly string[];
  /** Absent in releases that were recorded before it was looked at. */
  readonly place?: ServicePlace;
}

/**
 * Everything a target read from its source, by path, with the object id found there (`absent` when
 * nothing was). Equal closures mean equal releases, so a commit that leaves the closure alone needs
 * no rendering at all.
 */
export interface InputClosure {
  /** Digest of the effective configuration and of the variables that come from outside the source. */
  readonly configuration: string;
  /**
   * Whether `paths` is everything that was read. False when a compose file pulls in something by a
   * variable or from elsewhere: then only rendering tells whether anything changed.
   */
  readonly complete: boolean;
  readonly paths: Readonly<Record<string, string>>;
  /** Files that are encrypted in the source and that the release needs in the clear. */
  readonly encrypted?: readonly string[];
  /** The same for what was read from the configuration's own source, where that is another one. */
  readonly configurationPaths?: Readonly<Record<string, string>>;
}

/** Files and directories of a release under `live/`, where containers may write. */
export interface LiveManifest {
  /** Files the release brought: path in the tree to kind and object id. */
  readonly files: Readonly<Record<string, string>>;
  /** Directories that must exist although the source has nothing there. */
  readonly directories: readonly string[];
}

/** Facts that compose needs beside the model when it acts on a release. May hold secrets. */
export interface ComposeInvocation {
  /** Variables of the process environment: the configuration's own, then resolved secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Dotenv files, relative to the tree, later ones win. */
  readonly envFiles: readonly string[];
  /** Those of the configuration's own source, where that is another one; the others win. */
  readonly configurationEnvFiles?: readonly string[];
  readonly profiles: readonly string[];
  /**
   * Values that configs and secrets take from variables of dotenv files. Missing in releases that were
   * recorded before there was such a thing.
   */
  readonly values?: Readonly<Record<string, string>>;
  /** Which of the variables are external secrets. */
  readonly secretVariables?: readonly string[];
  /** Decrypted texts that stand in the model and must not be shown to anybody. */
  readonly secrets?: readonly string[];
}

/** Facts that only a release of a swarm has. */
export interface SwarmRelease {
  /** Old configs and secrets to keep; the instance's own number where it is absent. */
  readonly configRetention?: number;
  readonly secretRetention?: number;
}

/** One deployment at one moment. Same digest and same healthy containers: nothing to do. */
export interface Release {
  readonly key: StackKey;
  readonly revision: Revision;
  /** Where its configuration comes from, when that is not the source it is deployed from. */
  readonly configuration?: Revision;
  readonly target: string;
  /** Seconds until it has to be healthy, also when it is put back; of its own configuration. */
  readonly timeoutSeconds: number;
  /** Keyed digest over all services and top-level resources. */
  readonly digest: string;
  readonly services: readonly ReleaseService[];
  readonly closure: InputClosure;
  readonly live: LiveManifest;
  /** Of a release that runs as a stack of a swarm; absent where containers are made. */
  readonly swarm?: SwarmRelease;
  /** What is handed to compose; mounts go through `current/` and `live/`. */
  readonly model: ComposeModel;
  readonly invocation: ComposeInvocation;
}
