import type { Revision } from "./revision.ts";
import type { StackKey } from "./stack_key.ts";

/** The rendered model as `docker compose config --format json` prints it. May hold secrets. */
export type ComposeModel = { readonly [key: string]: unknown };

/** Conditions of a started service that must hold before its release counts as good. */
export interface ServiceExpectation {
  /** Number of containers that the release wants; 0 means none may run. */
  readonly replicas: number;
  /** Whether the engine restarts a stopped container (`always`, `unless-stopped`). */
  readonly restarts: boolean;
  /** Whether exit code 0 is a good end: policy unset, `no` or `on-failure`. */
  readonly mayFinish: boolean;
  /** Whether the deployment waits for its end: `one_shot`, or a dependent needs its completion. */
  readonly oneShot: boolean;
  /** Whether the deployment starts it: false for `autostart: false` and for job services. */
  readonly autostart: boolean;
}

/** The name and networks under which containers of a service are found. */
export interface ServicePlace {
  /** Container name that the author chose; empty where compose chooses one. */
  readonly containerName: string;
  /** The engine's names of the service's networks. */
  readonly networks: readonly string[];
}

/** Mounted files whose changes must not replace the container (`recreate.ignore`). */
interface InPlaceFiles {
  /** Content by path in the tree, as in {@link ReleaseService.inputs}. */
  readonly files: Readonly<Record<string, string>>;
  /** Signal that tells the service of a change; absent where it notices by itself. */
  readonly signal?: string;
}

/** One service of a release, with a digest of everything that can change its container. */
export interface ReleaseService {
  readonly name: string;
  /** Keyed digest; the value of the `stackwright.digest` label. */
  readonly digest: string;
  /** The parts of the digest by name, `file:<path>` and the like: they tell which input changed. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly expectation: ServiceExpectation;
  /** Image reference; the name that compose gives where the service only has a build. */
  readonly image: string;
  /**
   * Whether a build of the release gives the image, its own or another service's; of its own alone in
   * releases of older versions.
   */
  readonly builds: boolean;
  /** Side images (hooks, mounts), in releases of older versions but those it builds; absent without any. */
  readonly sideImages?: readonly string[];
  /** Files that change in place; absent when there are none. */
  readonly inPlace?: InPlaceFiles;
  /** Services whose replacement replaces this one, with the reason (`shares the network of db`). */
  readonly follows: Readonly<Record<string, string>>;
  /** Services that must be handled before this one. */
  readonly dependsOn: readonly string[];
  /** Absent in releases of older versions, which did not record it. */
  readonly place?: ServicePlace;
}

/**
 * Everything that a target read from its source: object ids by path (`absent` for a missing file).
 * Equal closures mean equal releases, so a commit that leaves the closure alone needs no rendering.
 */
export interface InputClosure {
  /** Digest of the effective configuration and of the variables that come from outside the source. */
  readonly configuration: string;
  /**
   * Whether `paths` has everything. False when a compose file includes something by a variable or
   * from elsewhere: then only rendering tells whether anything changed.
   */
  readonly complete: boolean;
  readonly paths: Readonly<Record<string, string>>;
  /** Encrypted files that the release needs decrypted. */
  readonly encrypted?: readonly string[];
  /** Whether the texts of these files are recorded with the release; absent in those of older versions. */
  readonly recordsTexts?: boolean;
  /** Paths in the configuration's source, where that is another one. */
  readonly configurationPaths?: Readonly<Record<string, string>>;
}

/** Files and directories under `live/`, where a release's containers may write. */
export interface LiveManifest {
  /** Files from the source: path in the tree to kind and object id. */
  readonly files: Readonly<Record<string, string>>;
  /** Directories to make although the source does not have them. */
  readonly directories: readonly string[];
}

/** What compose needs beside the model to act on a release. May hold secrets. */
export interface ComposeInvocation {
  /** Variables of the process environment: the configuration's own, then resolved secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Dotenv files, relative to the tree, later ones win. */
  readonly envFiles: readonly string[];
  /** Dotenv files of the configuration's source, if that is another one; `envFiles` beat them. */
  readonly configurationEnvFiles?: readonly string[];
  readonly profiles: readonly string[];
  /** What configs and secrets take from variables of dotenv files; absent in older versions' releases. */
  readonly values?: Readonly<Record<string, string>>;
  /** Names of the variables that hold external secrets. */
  readonly secretVariables?: readonly string[];
  /** Texts of its files that must stay hidden, decrypted ones among them; its model shows the others. */
  readonly secrets?: readonly string[];
}

/** Options of a release in a swarm. */
export interface SwarmRelease {
  /** Old configs and secrets to keep; the instance's setting by default. */
  readonly configRetention?: number;
  readonly secretRetention?: number;
}

/** One deployment at one moment. Same digest and healthy containers: nothing to do. */
export interface Release {
  readonly key: StackKey;
  readonly revision: Revision;
  /** Revision of its configuration, where that is not in the source it is deployed from. */
  readonly configuration?: Revision;
  readonly target: string;
  /** Seconds until it must be healthy, also when it is put back; from its own configuration. */
  readonly timeoutSeconds: number;
  /** Directory of the source that it is deployed from; absent in releases of older versions. */
  readonly workingDir?: string;
  /** Keyed digest over all services and top-level resources. */
  readonly digest: string;
  readonly services: readonly ReleaseService[];
  /**
   * Names of services that its compose files have under profiles that are not active; absent without any, in
   * a swarm, and in releases of older versions.
   */
  readonly inactive?: readonly string[];
  /**
   * Networks and volumes, with their names on the engine, that its compose files define and no service of its
   * model uses, as services of other profiles do; absent without any, and in releases of older versions.
   */
  readonly unused?: ComposeModel;
  readonly closure: InputClosure;
  readonly live: LiveManifest;
  /** Set for a release that runs as services of a swarm. */
  readonly swarm?: SwarmRelease;
  /** The model for compose; its mounts go through `current/` and `live/`. */
  readonly model: ComposeModel;
  readonly invocation: ComposeInvocation;
}
