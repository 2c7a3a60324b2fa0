import type { ObservedBind, ObservedContainer } from "../model/mod.ts";
import type { JsonRecord } from "./json.ts";

/** Facts that an engine reports about itself. */
export interface EngineInfo {
  readonly id: string;
  /** Id of the swarm that it manages; empty otherwise. */
  readonly cluster: string;
  /** Name of its machine, by which its swarm calls the node. */
  readonly hostname: string;
  readonly version: string;
  /** Agreed API version, such as `1.45`. */
  readonly apiVersion: string;
  readonly swarm: "inactive" | "manager" | "worker" | "other";
  /**
   * Whether an image stays, without a name, when a build takes its name. In containerd's store, the
   * default of new installations since 29, it is dropped, even while containers run it.
   */
  readonly keepsUnnamed: boolean;
}

/** An image as the engine lists it. */
export interface ImageSummary {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** The label with its compose project, if it has that. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Characters that an image's own configuration adds to each of its containers. */
export interface ImageListed {
  readonly id: string;
  /** Characters of the labels, which the container's events have as well. */
  readonly labels: number;
  /** Characters in the list of containers, with those of the labels. */
  readonly all: number;
}

/** Command and variables (`NAME=value`) of an image, for containers that have none of their own. */
export interface ImageDefaults {
  readonly command: readonly string[];
  readonly environment: readonly string[];
  /** Whether the engine looks at their health. */
  readonly checksHealth: boolean;
}

/** A volume or network as the engine lists it. */
export interface ResourceSummary {
  /** Id of a network; the name of a volume. */
  readonly id: string;
  readonly name: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Options of its driver; may hold secrets. */
  readonly options?: Readonly<Record<string, string>>;
  /** Further settings of a network; absent for volumes. */
  readonly network?: NetworkFacts;
}

/** Settings of a network, besides its driver. */
export interface NetworkFacts {
  readonly internal: boolean;
  readonly attachable: boolean;
  /** Absent where the engine does not say. */
  readonly ipv4?: boolean;
  readonly ipv6: boolean;
  /** Driver of its address ranges. */
  readonly ipamDriver?: string;
  /** Options of that driver; compose alone sets them. */
  readonly ipamOptions?: Readonly<Record<string, string>>;
  /** Address ranges, requested or chosen by the engine. */
  readonly pools: readonly NetworkRange[];
}

/** An address range of a network. */
export interface NetworkRange extends Readonly<Record<"subnet" | "gateway" | "range", string>> {
  /** Addresses that containers do not get, by name (`aux_addresses`). */
  readonly others?: Readonly<Record<string, string>>;
}

/** An existing mount of a container. */
export interface ContainerMount extends ObservedBind {
  readonly kind: "bind" | "volume" | "other";
  /** Name of a volume; empty otherwise. */
  readonly name: string;
}

/** A container's existing endpoint in one network. */
export interface ContainerEndpoint {
  /** Current addresses; empty for a stopped container. */
  readonly ipv4: string;
  readonly ipv6: string;
  /** Further names of the container in the network. */
  readonly aliases: readonly string[];
}

/** Details of a container that only inspection shows. */
export interface ContainerDetails {
  readonly container: ObservedContainer;
  readonly startedAt: Date | undefined;
  /** Number of restarts by the engine since the container was started by a call. */
  readonly restartCount: number;
  /** Grace period before a stop kills the container; a longer one counts as a quarter of an hour. */
  readonly stopTimeoutSeconds: number;
  /** The engine's message on why it did not start. */
  readonly error: string;
  /** Output of the last health check; empty without one. */
  readonly healthOutput: string;
  /** The last completed health check; absent without one. */
  readonly lastCheck?: { readonly beganAt: Date; readonly passed: boolean };
  readonly mounts: readonly ContainerMount[];
  /** Directory of its own layer on the engine's host; absent where the engine's store names none. */
  readonly upperDirectory?: string;
  /** Endpoints by the name of the network. */
  readonly endpoints?: Readonly<Record<string, ContainerEndpoint>>;
  /** Host configuration as the engine reports it, by the names of `HostConfig`. */
  readonly host?: JsonRecord;
}

/** Label filters: `key` must exist, and equal the value if there is one. */
export type LabelFilter = Readonly<Record<string, string | undefined>>;
