import type { ObservedContainer } from "../model/mod.ts";
import type { JsonRecord } from "./json.ts";

/** Facts that an engine tells of itself. */
export interface EngineInfo {
  readonly id: string;
  /** Id of the swarm that it manages, else empty. */
  readonly cluster: string;
  readonly version: string;
  /** API version both sides speak, such as `1.45`. */
  readonly apiVersion: string;
  readonly swarm: "inactive" | "manager" | "worker" | "other";
  /**
   * Whether a build whose name another image had leaves that one, without a name. In containerd's store,
   * the default of new installations since 29, it is gone, even while containers run it.
   */
  readonly keepsUnnamed: boolean;
}

/** An image as the engine lists it. */
export interface ImageSummary {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** The one that says whose it is, where it has that. */
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
  readonly pools: readonly Readonly<Record<"subnet" | "gateway" | "range", string>>[];
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
  readonly startedAt: Date | undefined;
  /** Number of times that the engine restarted it since it was started by a call. */
  readonly restartCount: number;
  /** Time for which a stop lets it end by itself before it is killed. */
  readonly stopTimeoutSeconds: number;
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
