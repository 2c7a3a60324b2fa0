import type { ObservedContainer } from "../model/mod.ts";
import type { ContainerRecipe } from "./container_recipe.ts";
import type { ContainerWish, EndpointBody, NetworkBody, VolumeBody } from "./create_bodies.ts";
import type { ContainerEvent, EventOptions } from "./events.ts";
import type { JsonRecord } from "./json.ts";
import type { Swarm } from "./swarm.ts";

export type { ContainerRecipe } from "./container_recipe.ts";

/** Facts that an engine tells of itself. */
export interface EngineInfo {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** API version both sides speak, such as `1.45`. */
  readonly apiVersion: string;
  readonly swarm: "inactive" | "manager" | "worker" | "other";
}

/** An image as the engine lists it. */
export interface ImageSummary {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A volume or network as the engine lists it. */
export interface ResourceSummary {
  /** Id of a network; the name of a volume. */
  readonly id: string;
  readonly name: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What its driver was told when it was made; may hold secrets. */
  readonly options?: Readonly<Record<string, string>>;
  /** What else a network is; absent for volumes. */
  readonly network?: NetworkFacts;
}

/** Options that a network was made with, besides its driver. */
export interface NetworkFacts {
  readonly internal: boolean;
  readonly attachable: boolean;
  readonly ipv6: boolean;
  /** Address ranges, chosen by whoever made it or by the engine. */
  readonly pools: readonly {
    readonly subnet: string;
    readonly gateway: string;
    readonly range: string;
  }[];
}

/** One mount of a container, as the engine made it. */
export interface ContainerMount {
  readonly kind: "bind" | "volume" | "other";
  /** Name of a volume, else empty. */
  readonly name: string;
  /** Path on the engine's host. */
  readonly source: string;
  /** Path in the container. */
  readonly destination: string;
  readonly writable: boolean;
}

/** A container's place in one network, as the engine made it. */
export interface ContainerEndpoint {
  /** Addresses it has now; empty for one that does not run. */
  readonly ipv4: string;
  readonly ipv6: string;
  /** Names by which others in the network find it, besides its own. */
  readonly aliases: readonly string[];
}

/** Details of a container that only inspection shows. */
export interface ContainerDetails {
  readonly container: ObservedContainer;
  readonly restartPolicy: string;
  readonly startedAt: Date | undefined;
  /** How often the engine restarted it since it was started by a call. */
  readonly restartCount: number;
  /** How long a stop lets it end by itself before it is killed. */
  readonly stopTimeoutSeconds: number;
  readonly oomKilled: boolean;
  /** The engine's own words on why it did not start. */
  readonly error: string;
  /** Output of the last health check, empty without one. */
  readonly healthOutput: string;
  /** The last health check that ended; absent without one. */
  readonly lastCheck?: { readonly beganAt: Date; readonly passed: boolean };
  readonly mounts: readonly ContainerMount[];
  /** By the name of the network. */
  readonly endpoints?: Readonly<Record<string, ContainerEndpoint>>;
  /** Its share of its host as the engine tells it, by the names of `HostConfig`. */
  readonly host?: JsonRecord;
}

/** Label filters: `key` must exist, or equal the value when there is one. */
export type LabelFilter = Readonly<Record<string, string | undefined>>;

/**
 * The Engine API, as far as Stackwright uses it. Names and ids are interchangeable where the API
 * takes either.
 *
 * Every call throws `engine_unreachable` when the engine does not answer, `engine_refused` with
 * method, path, status and the engine's own message when it answers with an error, and the signal's
 * reason when aborted. Calls marked mutating change something; all others never do.
 */
export interface Engine {
  /** Reaches the engine and agrees on an API version. */
  info(signal: AbortSignal): Promise<EngineInfo>;
  /** The API version both sides speak; asks the engine only the first time. */
  apiVersion(signal: AbortSignal): Promise<string>;
  /** Containers in any state that carry all `labels`. */
  listContainers(labels: LabelFilter, signal: AbortSignal): Promise<ObservedContainer[]>;
  /** One container; `undefined` when there is none. */
  inspectContainer(id: string, signal: AbortSignal): Promise<ContainerDetails | undefined>;
  /** How a container was made; `undefined` when there is none. */
  containerRecipe(id: string, signal: AbortSignal): Promise<ContainerRecipe | undefined>;
  /** Mutating. Makes a container as another one was made, without starting it; returns its id. */
  createContainer(recipe: ContainerRecipe, signal: AbortSignal): Promise<string>;
  /** Mutating. Makes a new container in its networks, without starting it; returns its id. */
  makeContainer(wish: ContainerWish, signal: AbortSignal): Promise<string>;
  /** Mutating. Unpacks a tar archive at the root of a container's files. */
  unpackInto(id: string, archive: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Container events as they happen, until the signal is aborted or the engine ends the stream: then it throws. */
  containerEvents(options: EventOptions, signal: AbortSignal): AsyncIterable<ContainerEvent>;
  /** The last `lines` lines a container wrote to standard output and error, oldest first. */
  containerLogs(id: string, lines: number, signal: AbortSignal): Promise<string[]>;
  /** Mutating. Starting one that runs is fine. */
  startContainer(id: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Waits for the container's own grace period, or `timeoutSeconds`; one that is stopped is fine. */
  stopContainer(id: string, timeoutSeconds: number | undefined, signal: AbortSignal): Promise<void>;
  /** Mutating. Stops, then starts; `timeoutSeconds` and `signalName` as far as given. */
  restartContainer(
    id: string,
    options: { readonly timeoutSeconds?: number; readonly signalName?: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Mutating. A container that runs goes on under its new name. */
  renameContainer(id: string, name: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Lets a paused container go on. */
  unpauseContainer(id: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Sends a signal such as `SIGHUP`. */
  killContainer(id: string, signalName: string, signal: AbortSignal): Promise<void>;
  /**
   * Mutating. Removes a stopped or running container and its anonymous volumes if asked; one that is
   * gone is fine, and so is one that somebody else removes.
   */
  removeContainer(
    id: string,
    options: { readonly force: boolean; readonly volumes: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Content id of the image a reference names on this engine; `undefined` when it is not there. */
  imageId(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Digest of what runs of that image on a platform such as `linux/arm64`, or on the engine's where that
   * is empty: it stays the same where only what is said about the image changed.
   */
  imageContent(
    reference: string,
    platform: string,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Paths at which an image declares volumes; none when it is not there. */
  imageVolumes(reference: string, signal: AbortSignal): Promise<readonly string[]>;
  listImages(signal: AbortSignal): Promise<ImageSummary[]>;
  /** Content ids of the images that any container, running or not, was made from. */
  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Mutating. `removed` is false when it was gone or is in use; that is not an error. */
  removeImage(id: string, signal: AbortSignal): Promise<{ readonly removed: boolean }>;
  /** Mutating. Points a reference such as `registry/app:1` at an image. */
  tagImage(id: string, reference: string, signal: AbortSignal): Promise<void>;
  listVolumes(labels: LabelFilter, signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Those of the volumes named that are there. */
  findVolumes(names: readonly string[], signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Mutating. Of one that is there already nothing changes, whatever it was made with. */
  makeVolume(body: VolumeBody, signal: AbortSignal): Promise<void>;
  /** Mutating. One that is gone is fine. */
  removeVolume(name: string, signal: AbortSignal): Promise<void>;
  listNetworks(labels: LabelFilter, signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Those of the networks with these names or whole ids that are there. */
  findNetworks(references: readonly string[], signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Mutating. Of one that is there already nothing changes, whatever it was made with. */
  makeNetwork(body: NetworkBody, signal: AbortSignal): Promise<void>;
  /** Mutating. Gives a container, running or not, a place in a network. */
  connectNetwork(
    network: string,
    place: { readonly container: string; readonly endpoint: EndpointBody },
    signal: AbortSignal,
  ): Promise<void>;
  /** Mutating. Takes a container out of a network. */
  disconnectNetwork(network: string, container: string, signal: AbortSignal): Promise<void>;
  /** Mutating. One that is gone is fine. */
  removeNetwork(id: string, signal: AbortSignal): Promise<void>;
  /** What it answers when it manages a swarm; it refuses every one of these calls otherwise. */
  readonly swarm: Swarm;
  /** Closes idle connections. May be called twice. */
  close(): void;
}
