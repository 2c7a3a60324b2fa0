import type { LabelFilter, ResourceSummary } from "./engine_facts.ts";
import type { JsonRecord } from "./json.ts";
import type { ObjectBody, ServiceBody } from "./swarm_bodies.ts";

/** A service of a swarm, as its manager tells of it. */
export interface SwarmService {
  readonly id: string;
  /** Changes with every update; an update names the one that it saw. */
  readonly version: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly labels: Readonly<Record<string, string>>;
  /** As it was asked for, with what the engine added; a change of it is posted as a whole. */
  readonly spec: JsonRecord;
  /** What it was before the last update; absent when the engine would not go back to it. */
  readonly previousSpec?: JsonRecord;
  readonly mode: ServiceMode;
  /** Where it is reached from outside, with the ports that the engine chose. */
  readonly ports: readonly ServicePort[];
  /** The engine's own words on the last update; absent when there was none. */
  readonly update?: {
    readonly state: string;
    readonly message: string;
    /** When it began, as the engine writes it. */
    readonly startedAt?: string;
  };
  /** Which run of a job is the last one; 0 for services. */
  readonly iteration: number;
}

/** A port of a service that is reached from outside. */
export interface ServicePort {
  readonly targetPort: number;
  readonly publishedPort: number;
  readonly protocol: string;
  /** `ingress` at every node, `host` at those that have a task. */
  readonly mode: string;
}

/** The number of tasks that a service wants, and whether they end. */
export type ServiceMode =
  | { readonly kind: "replicated"; readonly replicas: number }
  | { readonly kind: "global" }
  | { readonly kind: "replicated-job"; readonly completions: number }
  | { readonly kind: "global-job" };

/** A task: one container of a service, or the attempt at one. */
export interface SwarmTask {
  readonly id: string;
  readonly serviceId: string;
  /** Which of the replicas it is; 0 in global services. */
  readonly slot: number;
  readonly nodeId: string;
  readonly createdAt: Date;
  /** `new`, `pending`, `assigned`, …, `running`, `complete`, `failed`, `rejected`, `shutdown`, … */
  readonly state: string;
  /** What it is to become: `running`, `shutdown`, `complete`, `remove`. */
  readonly desired: string;
  /** Why it is not what it is to become; empty when nothing is wrong. */
  readonly error: string;
  /** Known when it ended. */
  readonly exitCode: number | undefined;
  /** What it was made from: a service's task template of then. */
  readonly spec: JsonRecord;
  /** Which run of a job it belongs to; 0 for services. */
  readonly iteration: number;
}

/** A config or secret. */
export interface SwarmObject {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The content of a config, in base64; an engine tells nobody that of a secret. */
  readonly data?: string;
}

/** Kinds of objects whose content a swarm keeps. */
export type ObjectKind = "configs" | "secrets";

/** The registry's answer about an image, asked by the engine. */
export type Distribution =
  | { readonly kind: "found"; readonly digest: string }
  /** It answered that there is no such image, or none for these credentials. */
  | { readonly kind: "refused"; readonly why: string }
  /** It could not be asked; `why` is empty where it was not to be asked. */
  | { readonly kind: "unknown"; readonly why: string };

/** A service that is made or changed. */
export interface ServiceChange {
  readonly body: ServiceBody | JsonRecord;
  /** Credentials for its image's registry, as `X-Registry-Auth` has them; empty for none. */
  readonly auth: string;
}

/**
 * Calls that only a manager of a swarm answers. Throws as the other calls of an engine do; calls
 * marked mutating change something.
 */
export interface Swarm {
  /** Services that carry all `labels`. */
  services(labels: LabelFilter, signal: AbortSignal): Promise<SwarmService[]>;
  /** Tasks of the services that carry all `labels`, also those that ended and are still remembered. */
  tasks(labels: LabelFilter, signal: AbortSignal): Promise<SwarmTask[]>;
  /** The service with an id; `undefined` where there is none. */
  service(id: string, signal: AbortSignal): Promise<SwarmService | undefined>;
  /** The tasks of one service; none of one that is gone. Those of all may be more than can be read. */
  tasksOf(id: string, signal: AbortSignal): Promise<SwarmTask[]>;
  /** Mutating. Returns its id. */
  createService(change: ServiceChange, signal: AbortSignal): Promise<string>;
  /** Mutating. Refused when the service is no more of that version. */
  updateService(
    service: Pick<SwarmService, "id" | "version">,
    change: ServiceChange,
    signal: AbortSignal,
  ): Promise<void>;
  /** The last lines that the tasks of a service printed, those that ended included. */
  serviceLogs(id: string, lines: number, signal: AbortSignal): Promise<string[]>;
  /** Mutating. One that is gone is fine. Its tasks end some time later. */
  removeService(id: string, signal: AbortSignal): Promise<void>;
  /** Configs or secrets that carry all `labels`. */
  objects(kind: ObjectKind, labels: LabelFilter, signal: AbortSignal): Promise<SwarmObject[]>;
  /** Mutating. Returns its id. */
  createObject(kind: ObjectKind, body: ObjectBody, signal: AbortSignal): Promise<string>;
  /** Mutating. `removed` is false when a service uses it; one that is gone is fine. */
  removeObject(
    kind: ObjectKind,
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly removed: boolean }>;
  /** Networks that all nodes know. */
  networks(signal: AbortSignal): Promise<ResourceSummary[]>;
  /** What the registry says of an image. */
  distribution(image: string, auth: string, signal: AbortSignal): Promise<Distribution>;
}
