import type { ObservedContainer } from "../model/mod.ts";
import type { ContainerRecipe } from "./container_recipe.ts";
import type { ContainerWish, EndpointBody, NetworkBody, VolumeBody } from "./create_bodies.ts";
import type { ContainerEvent, EventOptions } from "./events.ts";
import type {
  ContainerDetails,
  EngineInfo,
  ImageSummary,
  LabelFilter,
  ResourceSummary,
} from "./engine_facts.ts";
import type { Swarm } from "./swarm.ts";

export type { ContainerRecipe } from "./container_recipe.ts";
export type * from "./engine_facts.ts";

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
  /** Bytes of the list of all containers, which may be longer than anything that is read. */
  listedBytes(signal: AbortSignal): Promise<number>;
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
  /** Labels of the image a reference names; `undefined` when it is not there. */
  imageLabels(
    reference: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Characters that the list of containers has for each one of an image, because its author said so;
   * `undefined` when it is not there.
   */
  imageListed(reference: string, signal: AbortSignal): Promise<number | undefined>;
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
