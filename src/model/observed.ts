/** Container states of the Engine API. */
export type ContainerState =
  | "created"
  | "running"
  | "paused"
  | "restarting"
  | "removing"
  | "exited"
  | "dead";

/** Outcome of a health check; `none` where there is no check. */
export type ContainerHealth = "none" | "starting" | "healthy" | "unhealthy";

/** A port of the host that a container holds. */
export interface HostPort {
  /** Address it listens on; `0.0.0.0` or `::` is every address. */
  readonly address: string;
  readonly port: number;
  readonly protocol: string;
}

/** A mount of a container from the engine's host. */
export interface ObservedBind {
  /** Path on the engine's host. */
  readonly source: string;
  /** Path in the container. */
  readonly destination: string;
  readonly writable: boolean;
}

/** One container of a stack, as the engine lists it. */
export interface ObservedContainer {
  readonly id: string;
  readonly name: string;
  readonly service: string;
  readonly state: ContainerState;
  readonly health: ContainerHealth;
  /** Known for stopped containers. */
  readonly exitCode: number | undefined;
  /** Content id of the image it runs. */
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Host ports it holds now; a stopped container holds none. */
  readonly hostPorts?: readonly HostPort[];
  /** Ids of the networks it is configured for; a stopped container's may be gone. */
  readonly networkIds?: readonly string[];
  readonly networkNames?: readonly string[];
  /** Addresses that somebody chose for it, running or not, with their networks' names; absent where it has none. */
  readonly fixedAddresses?: readonly { readonly network: string; readonly address: string }[];
  /** What it mounts from the engine's host; absent in lists of everybody's, and for tasks of a swarm. */
  readonly binds?: readonly ObservedBind[];
  /** Id of the container whose network it shares; only in lists of everybody's. */
  readonly joins?: string;
}

/** When an engine starts a container again by itself. */
export type RestartPolicy = { readonly Name: string; readonly MaximumRetryCount: number };

/** Restart policies that containers had which were stopped for good, by their ids. */
export type HaltedPolicies = Readonly<Record<string, RestartPolicy>>;

/** What an adoption writes down for whoever goes on with it, should its process be killed. */
export interface AdoptionNotes {
  readonly halted: HaltedPolicies;
  /** Paths below `live` to which data is being copied: nothing has run on it yet. */
  readonly copying: readonly string[];
  /** Paths below `live` to which it copied data: the originals are left again where the release fails. */
  readonly copied: readonly string[];
}

/** An update of a service that a swarm paused or rolled back by itself. */
export interface EngineVerdict {
  readonly service: string;
  /** Identifies the update: changes when the service is updated again. */
  readonly id: string;
  readonly state: "paused" | "rollback_paused" | "rollback_completed";
  /** Digest of the service as it is now, by its label. */
  readonly digest: string | undefined;
  /** The engine's words, with the errors of failed tasks; may be empty. */
  readonly why: string;
  /** Whether tasks of the service failed since the update began. */
  readonly tasksFailed: boolean;
}

/** Containers of one stack on an engine, without one-off ones (`run`, jobs). */
export interface ObservedStack {
  readonly containers: readonly ObservedContainer[];
  /** Swarm services that want no tasks and so have no containers; absent if no swarm was asked. */
  readonly idle?: readonly Pick<ObservedContainer, "service" | "labels">[];
  /** Updates of swarm services that did not end well. */
  readonly verdicts?: readonly EngineVerdict[];
}
