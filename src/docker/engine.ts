import type { ObservedContainer, RestartPolicy } from "../model/mod.ts";
import type { ContainerMounts } from "./container_mounts.ts";
import type { ContainerRecipe } from "./container_recipe.ts";
import type { ContainerWish, EndpointBody, NetworkBody, VolumeBody } from "./create_bodies.ts";
import type { ContainerEvent, EventOptions } from "./events.ts";
import type {
  ContainerDetails,
  EngineInfo,
  ImageDefaults,
  ImageListed,
  ImageSummary,
  LabelFilter,
  ResourceSummary,
} from "./engine_facts.ts";
import type { Swarm } from "./swarm.ts";

export type { ContainerRecipe } from "./container_recipe.ts";
export type * from "./engine_facts.ts";

/**
 * The Engine API, as far as Stackwright uses it. Names and ids are the same where it takes either.
 *
 * Every call throws `engine_unreachable` when the engine does not answer, `engine_refused` with
 * method, path, status and the engine's own message when it answers with an error, and the signal's
 * reason when aborted. Calls marked mutating change something; all others never do.
 */
export interface Engine {
  /** Connects to the engine and agrees on an API version. */
  info(signal: AbortSignal): Promise<EngineInfo>;
  /** The agreed API version; asks the engine only once. */
  apiVersion(signal: AbortSignal): Promise<string>;
  /**
   * Containers in any state that carry all `labels`. Of a compose project without the tasks of a
   * swarm, which have that label where their image's author set it. Of everybody's without those of whom
   * there are too many to read; where a label has a value, throws `engine_refused` rather than leave one out.
   */
  listContainers(labels: LabelFilter, signal: AbortSignal): Promise<ObservedContainer[]>;
  /** What `of` makes of each container; throws `engine_refused` rather than leave one out. */
  everyContainer<T>(
    of: (container: ObservedContainer) => T | undefined,
    signal: AbortSignal,
  ): Promise<T[]>;
  /** One container; `undefined` when there is none. */
  inspectContainer(id: string, signal: AbortSignal): Promise<ContainerDetails | undefined>;
  /** Mounts of all containers; throws `engine_refused` rather than leave some out. */
  containerMounts(signal: AbortSignal): Promise<ContainerMounts[]>;
  /** The settings that a container was made with; `undefined` when there is none. */
  containerRecipe(id: string, signal: AbortSignal): Promise<ContainerRecipe | undefined>;
  /** Mutating. Makes a container from another one's recipe, without starting it; returns its id. */
  createContainer(recipe: ContainerRecipe, signal: AbortSignal): Promise<string>;
  /** Mutating. Makes a new container in its networks, without starting it; returns its id. */
  makeContainer(wish: ContainerWish, signal: AbortSignal): Promise<string>;
  /** Mutating. Unpacks a tar archive at the root of a container's files. */
  unpackInto(id: string, archive: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Container events until the signal is aborted or the engine ends the stream; both throw. */
  containerEvents(options: EventOptions, signal: AbortSignal): AsyncIterable<ContainerEvent>;
  /** The last `lines` lines a container wrote to standard output and error, oldest first. */
  containerLogs(id: string, lines: number, signal: AbortSignal): Promise<string[]>;
  /**
   * Throws for a container whose mounts forbid to start it; absent for an engine that does not look.
   * Only for what others start: all our own starts ask by themselves.
   */
  look?(id: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Starts a container; may run already. */
  startContainer(id: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Waits for its grace period or `timeoutSeconds`; may be stopped already. */
  stopContainer(id: string, timeoutSeconds: number | undefined, signal: AbortSignal): Promise<void>;
  /** Mutating. Stops and starts a container, with `timeoutSeconds` and `signalName` if given. */
  restartContainer(
    id: string,
    options: { readonly timeoutSeconds?: number; readonly signalName?: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** Mutating. Renames a container, without stopping it. */
  renameContainer(id: string, name: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Says when the engine starts a container again, as `RestartPolicy` of its host configuration. */
  setRestartPolicy(id: string, policy: RestartPolicy, signal: AbortSignal): Promise<void>;
  /** Mutating. Resumes a paused container. */
  unpauseContainer(id: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Sends a signal such as `SIGHUP`. */
  killContainer(id: string, signalName: string, signal: AbortSignal): Promise<void>;
  /**
   * Mutating. Removes a stopped or running container, with its anonymous volumes if asked; may be
   * gone already, or be removed by somebody else at the same time.
   */
  removeContainer(
    id: string,
    options: { readonly force: boolean; readonly volumes: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Content id of the image that a reference names here; `undefined` when it is missing. */
  imageId(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Digest of an image for a platform such as `linux/arm64`, or for the engine's if that is empty.
   * It stays the same when only the image's metadata changes, such as attestations.
   */
  imageContent(
    reference: string,
    platform: string,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Paths at which an image declares volumes; none for a missing image. */
  imageVolumes(reference: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Labels of the image that a reference names; `undefined` when it is missing. */
  imageLabels(
    reference: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined>;
  /** What an image adds to each of its containers; `undefined` for a missing image. */
  imageListed(reference: string, signal: AbortSignal): Promise<ImageListed | undefined>;
  /** What an image gives to its containers; `undefined` for a missing image. */
  imageDefaults(reference: string, signal: AbortSignal): Promise<ImageDefaults | undefined>;
  listImages(signal: AbortSignal): Promise<ImageSummary[]>;
  /** Content ids of the images that any container, running or not, was made from. */
  imagesInUse(signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Mutating. Leaves an image that is in use; may be gone already. */
  removeImage(id: string, signal: AbortSignal): Promise<void>;
  /** Mutating. Points a reference such as `registry/app:1` at an image. */
  tagImage(id: string, reference: string, signal: AbortSignal): Promise<void>;
  /** Volumes with all `labels`; of everybody's without those of whom there are too many to read. */
  listVolumes(labels: LabelFilter, signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Those of the named volumes that exist. */
  findVolumes(names: readonly string[], signal: AbortSignal): Promise<ResourceSummary[]>;
  /** The volumes whose names are wanted; throws `engine_refused` rather than leave one out. */
  everyVolume(isWanted: (name: string) => boolean, signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Mutating. Does not change an existing volume, whatever its settings are. */
  makeVolume(body: VolumeBody, signal: AbortSignal): Promise<void>;
  /** Mutating. May be gone already. */
  removeVolume(name: string, signal: AbortSignal): Promise<void>;
  listNetworks(labels: LabelFilter, signal: AbortSignal): Promise<ResourceSummary[]>;
  /** The existing networks with these names or full ids. */
  findNetworks(references: readonly string[], signal: AbortSignal): Promise<ResourceSummary[]>;
  /** Mutating. Does not change an existing network, whatever its settings are. */
  makeNetwork(body: NetworkBody, signal: AbortSignal): Promise<void>;
  /** Mutating. Connects a container, running or not, to a network. */
  connectNetwork(
    network: string,
    place: { readonly container: string; readonly endpoint: EndpointBody },
    signal: AbortSignal,
  ): Promise<void>;
  /** Mutating. Disconnects a container from a network. */
  disconnectNetwork(network: string, container: string, signal: AbortSignal): Promise<void>;
  /** Mutating. May be gone already. */
  removeNetwork(id: string, signal: AbortSignal): Promise<void>;
  /** Calls for a swarm's manager; any other engine refuses them. */
  readonly swarm: Swarm;
  /** Closes idle connections. May be called twice. */
  close(): void;
}
