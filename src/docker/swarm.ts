import type { LabelFilter, ResourceSummary } from "./engine_facts.ts";
import type { JsonRecord } from "./json.ts";
import type { ObjectBody, ServiceBody } from "./swarm_bodies.ts";

/** A service of a swarm, as reported by a manager. */
export interface SwarmService extends Omit<SwarmObject, "data"> {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Specification, with the engine's additions; a change posts it as a whole. */
  readonly spec: JsonRecord;
  /**
   * Specification before the last update; absent when the engine has none to roll back to. In lists with
   * its configs and secrets alone.
   */
  readonly previousSpec?: JsonRecord;
  readonly mode: ServiceMode;
  /** Published ports, including those that the engine chose. */
  readonly ports: readonly ServicePort[];
  /** The engine's report on the last update; absent without one. */
  readonly update?: {
    readonly state: string;
    readonly message: string;
    /** Start of the update, in the engine's format. */
    readonly startedAt?: string;
  };
  /** Number of a job's last run; 0 for services. */
  readonly iteration: number;
}

/** A published port of a service. */
export interface ServicePort {
  readonly targetPort: number;
  /** 0 for an unpublished port of a container. */
  readonly publishedPort: number;
  readonly protocol: string;
  /** `ingress` for all nodes, `host` for nodes with a task. */
  readonly mode: string;
}

/** The number of wanted tasks, and whether they end. */
export type ServiceMode =
  | { readonly kind: "replicated"; readonly replicas: number }
  | { readonly kind: "global" }
  | { readonly kind: "replicated-job"; readonly completions: number }
  | { readonly kind: "global-job" };

/** A task of a service: a container, or the attempt at one. */
export interface SwarmTask {
  readonly id: string;
  readonly serviceId: string;
  /** Number of the replica; 0 in global services. */
  readonly slot: number;
  readonly nodeId: string;
  readonly createdAt: Date;
  /** `new`, `pending`, `assigned`, …, `running`, `complete`, `failed`, `rejected`, `shutdown`, … */
  readonly state: string;
  /** When it came to this state, by its node's clock. */
  readonly stateSince: Date;
  /** Desired state: `running`, `shutdown`, `complete`, `remove`. */
  readonly desired: string;
  /** Why the task is not in its desired state; empty without a problem. */
  readonly error: string;
  /** Set after the end. */
  readonly exitCode: number | undefined;
  /** The service's task template from which the task was made. */
  readonly spec: JsonRecord;
  /** Number of the job's run; 0 for services. */
  readonly iteration: number;
}

/** A config or secret. */
export interface SwarmObject {
  readonly id: string;
  readonly name: string;
  /** Changes with every update; an update names the version it is based on. */
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The content of a config in base64; engines never return that of a secret. */
  readonly data?: string;
}

/** Kinds of objects with content in a swarm. */
export type ObjectKind = "configs" | "secrets";

/** A registry's answer about an image, requested by the engine. */
export type Distribution =
  | { readonly kind: "found"; readonly digest: string }
  /** The registry reports no such image, or refuses these credentials. */
  | { readonly kind: "refused"; readonly why: string }
  /** No answer; `why` is empty when none was requested. */
  | { readonly kind: "unknown"; readonly why: string };

/** A service to make or change. */
export interface ServiceChange {
  readonly body: ServiceBody | JsonRecord;
  /** Credentials for its image's registry, as `X-Registry-Auth`; empty without any. */
  readonly auth: string;
}

/**
 * Calls for managers of a swarm; they throw like an engine's. Some are marked mutating. Lists leave nothing
 * out, but for {@link Swarm.services} without labels: they throw `engine_refused` instead.
 */
export interface Swarm {
  /** Services with all `labels`; without any, the `spec` of each has only a part of its container. */
  services(labels: LabelFilter, signal: AbortSignal): Promise<SwarmService[]>;
  /** What `of` makes of each service, as in a list of all; throws rather than leave one out. */
  everyService<T>(of: (service: SwarmService) => T | undefined, signal: AbortSignal): Promise<T[]>;
  /** The existing services with these names, with as little as in a list of all. */
  namedServices(names: readonly string[], signal: AbortSignal): Promise<SwarmService[]>;
  /** Tasks of services with all `labels`, including ended ones that the swarm remembers. */
  tasks(labels: LabelFilter, signal: AbortSignal): Promise<SwarmTask[]>;
  service(id: string, signal: AbortSignal): Promise<SwarmService | undefined>;
  /** Tasks of one service; none of a missing one. The list of all tasks may be too long to read. */
  tasksOf(id: string, signal: AbortSignal): Promise<SwarmTask[]>;
  /** Mutating. Returns its id. */
  createService(change: ServiceChange, signal: AbortSignal): Promise<string>;
  /** Mutating. Refused if the service has another version by now. */
  updateService(
    service: Pick<SwarmService, "id" | "version">,
    change: ServiceChange,
    signal: AbortSignal,
  ): Promise<void>;
  /** The last lines of a service's tasks, including ended ones. */
  serviceLogs(id: string, lines: number, signal: AbortSignal): Promise<string[]>;
  /** Mutating. May be gone already. Its tasks end some time later. */
  removeService(id: string, signal: AbortSignal): Promise<void>;
  /** Configs or secrets with all `labels`. */
  objects(kind: ObjectKind, labels: LabelFilter, signal: AbortSignal): Promise<SwarmObject[]>;
  /** The existing configs or secrets with these names. */
  namedObjects(
    kind: ObjectKind,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<SwarmObject[]>;
  /** Mutating. Returns its id. */
  createObject(kind: ObjectKind, body: ObjectBody, signal: AbortSignal): Promise<string>;
  /** Mutating. Leaves what a service uses; may be gone already. */
  removeObject(kind: ObjectKind, id: string, signal: AbortSignal): Promise<void>;
  /** Networks of all nodes. */
  networks(signal: AbortSignal): Promise<ResourceSummary[]>;
  /** The registry's answer about an image. */
  distribution(image: string, auth: string, signal: AbortSignal): Promise<Distribution>;
}
