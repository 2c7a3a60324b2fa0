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

/** One container of a stack, as the engine lists it. */
export interface ObservedContainer {
  readonly id: string;
  readonly name: string;
  /** Compose service name. */
  readonly service: string;
  readonly state: ContainerState;
  readonly health: ContainerHealth;
  /** Known for stopped containers. */
  readonly exitCode: number | undefined;
  /** Content id of the image it runs. */
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Ports of the host it holds now; a stopped container holds none. */
  readonly hostPorts?: readonly HostPort[];
  /** Ids of the networks it is to be in; those of a stopped container may be gone. */
  readonly networkIds?: readonly string[];
  /** Names of these networks. */
  readonly networkNames?: readonly string[];
}

/** The end of an update of a service that a swarm came to by itself. */
export interface EngineVerdict {
  /** Compose service name. */
  readonly service: string;
  /** The same as long as the service is not updated again. */
  readonly id: string;
  readonly state: "paused" | "rollback_paused" | "rollback_completed";
  /** The digest of the release whose service it is now. */
  readonly digest: string | undefined;
  /** In the engine's words, with what its tasks died of; may be empty. */
  readonly why: string;
  /** Whether tasks of it failed since it began. */
  readonly tasksFailed: boolean;
}

/** Containers that an engine runs for one stack; one-off ones (`run`, jobs) are no part of it. */
export interface ObservedStack {
  readonly containers: readonly ObservedContainer[];
  /**
   * Services that a swarm has without wanting a task of them, which therefore stand for no container;
   * absent where no swarm was asked.
   */
  readonly idle?: readonly Pick<ObservedContainer, "service" | "labels">[];
  /** Updates of services of a swarm that did not end as they should. */
  readonly verdicts?: readonly EngineVerdict[];
}
