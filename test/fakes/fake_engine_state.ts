import { createHash, randomUUID } from "node:crypto";
import type { ContainerHealth, ContainerState } from "../../src/model/mod.ts";
import type { Json, JsonRecord } from "../../src/docker/json.ts";
import { SwarmState } from "./fake_engine_swarm_state.ts";

/** What a container does once it is started. Times are milliseconds after the start. */
export type Behaviour =
  | "run"
  /** The same, and ends with this code when it is told to stop, as one that hears the signal. */
  | { readonly stopsWith: number }
  | {
    readonly exit: number;
    readonly afterMs?: number;
    /**
     * A task starts for so long, and only then runs for `afterMs`: an engine under load tells late of both.
     * Without it tasks end at once.
     */
    readonly startsForMs?: number;
    /** Writes its environment before it ends. */
    readonly printsEnvironment?: boolean;
  }
  | { readonly health: "healthy" | "unhealthy" | "starting"; readonly afterMs?: number }
  /** The engine refuses to start it, with these words. */
  | { readonly refuse: string };

/** An image the fake engine has, or that lies in its registry. */
export interface FakeImage {
  readonly id: string;
  /** Repository tags in their short form, `app:1`. */
  readonly tags: Set<string>;
  readonly labels: Readonly<Record<string, string>>;
  readonly created: Date;
  /** Whether it was made here, so that it has no digests of a registry. */
  readonly isLocal?: boolean;
}

/** A connection of a container to a network. */
export interface FakeEndpoint {
  networkId: string;
  readonly aliases: readonly string[];
  /** One that was asked for. */
  readonly address?: string;
  /** The one it has. */
  ip?: string;
}

/** Something mounted into a container. */
export interface FakeMount {
  readonly type: string;
  /** Of a volume. */
  readonly name: string;
  readonly source: string;
  readonly destination: string;
  readonly writable: boolean;
  readonly anonymous: boolean;
}

/** A container of the fake engine. */
export interface FakeContainer {
  readonly id: string;
  name: string;
  readonly created: Date;
  /** The body it was created with. */
  readonly config: JsonRecord;
  hostConfig: JsonRecord;
  readonly labels: Readonly<Record<string, string>>;
  /** As the client named it. */
  readonly image: string;
  readonly imageId: string;
  /** By network name. */
  readonly endpoints: Map<string, FakeEndpoint>;
  readonly mounts: readonly FakeMount[];
  state: ContainerState;
  health: ContainerHealth;
  exitCode: number;
  error: string;
  oomKilled: boolean;
  restarts: number;
  startedAt: Date | undefined;
  finishedAt: Date | undefined;
  readonly output: { readonly stream: 1 | 2; readonly text: string }[];
  /** Timers and waiters that end with the present life of the container. */
  readonly timers: Set<ReturnType<typeof setTimeout>>;
  readonly waiters: Set<() => void>;
}

/** A network of the fake engine. */
export interface FakeNetwork {
  readonly id: string;
  readonly name: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly created: Date;
  readonly spec: JsonRecord;
  /** Where nobody else chose its range: that which the engine chose. */
  readonly subnet?: string;
}

/** A volume of the fake engine. */
export interface FakeVolume {
  readonly name: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly created: Date;
  readonly options: Json;
}

/** Something that happened, as the event stream tells it. */
export interface FakeEvent {
  readonly type: "container" | "service" | "network" | "volume" | "image";
  readonly action: string;
  readonly id: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
}

/** A refusal, as the Engine API answers it. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Newest API version of the fake engine, where nobody says otherwise. */
const FAKE_API_VERSION = "1.45";

/** Everything the fake engine knows. */
export class EngineState {
  /** By which it is told from other engines. */
  id = `fake-${randomUUID()}`;
  readonly containers = new Map<string, FakeContainer>();
  readonly networks = new Map<string, FakeNetwork>();
  readonly volumes = new Map<string, FakeVolume>();
  /** By id. */
  readonly images = new Map<string, FakeImage>();
  /** By tag: what a pull brings. */
  readonly registry = new Map<string, FakeImage>();
  /** Whether the registry refuses everything and repeats the credentials it was given. */
  echoesCredentials = false;
  /** By container name, service or image. */
  readonly behaviours = new Map<string, Behaviour>();
  /** Newest API version that it speaks. */
  apiVersion = FAKE_API_VERSION;
  /** Whether it manages a swarm. */
  isManager = false;
  /** The state of its swarm where that is not up, such as `locked` after a restart: it manages nothing then. */
  swarmDown: string | undefined = undefined;
  readonly swarm = new SwarmState();
  readonly events: FakeEvent[] = [];
  readonly listeners = new Set<(event: FakeEvent) => void>();
  #sequence = 0;
  #lastTime = 0n;
  #subnets = 0;
  #addresses = 0;

  constructor() {
    for (const driver of ["bridge", "host", "null"]) {
      const name = driver === "null" ? "none" : driver;
      const id = this.newId();
      this.networks.set(id, { id, name, driver, labels: {}, created: new Date(), spec: {} });
    }
  }

  /** A range of addresses that was not given out before. */
  newSubnet(): string {
    return `10.${100 + ++this.#subnets % 100}.${Math.floor(this.#subnets / 100)}.0/24`;
  }

  /** An address that no container has, in a range that a network was given or chose. */
  newAddress({ spec, subnet }: FakeNetwork): string {
    const pools = (spec["IPAM"] as { Config?: { Subnet?: string }[] } | undefined)?.Config ?? [];
    const range = pools[0]?.Subnet ?? subnet ?? "172.17.0.0/16";
    return range.replace(/\d+\/\d+$/, String(2 + ++this.#addresses % 250));
  }

  /** 64 hex digits that were not given out before. */
  newId(): string {
    return hexDigest(`stackwright fake ${++this.#sequence}`);
  }

  emit(type: FakeEvent["type"], action: string, subject: {
    readonly id: string;
    readonly attributes: Readonly<Record<string, string>>;
  }): void {
    const now = BigInt(Date.now()) * 1_000_000n;
    this.#lastTime = now > this.#lastTime ? now : this.#lastTime + 1000n;
    const event = { type, action, ...subject, time: this.#lastTime };
    this.events.push(event);
    for (const listener of this.listeners) listener(event);
  }

  /** By id, start of the id, or name; refuses with 404. */
  container(key: string): FakeContainer {
    const name = key.replace(/^\//, "");
    const all = [...this.containers.values()];
    const found = this.containers.get(key) ?? all.find((each) => each.name === name) ??
      all.find((each) => name.length >= 4 && each.id.startsWith(name));
    if (found === undefined) throw new Refusal(404, `No such container: ${key}`);
    return found;
  }

  /** By id, name, or start of the id; refuses with 404. */
  network(key: string): FakeNetwork {
    const all = [...this.networks.values()];
    const found = this.networks.get(key) ?? all.find((each) => each.name === key) ??
      all.find((each) => key.length >= 4 && each.id.startsWith(key));
    if (found === undefined) throw new Refusal(404, `network ${key} not found`);
    return found;
  }

  /** By reference or id; refuses with 404. */
  image(key: string): FakeImage {
    const found = this.findImage(key);
    if (found === undefined) throw new Refusal(404, `No such image: ${shortReference(key)}`);
    return found;
  }

  findImage(key: string): FakeImage | undefined {
    const hex = key.replace(/^sha256:/, "");
    const tag = shortReference(key);
    for (const image of this.images.values()) {
      if (image.tags.has(tag)) return image;
      if (/^[0-9a-f]{4,64}$/.test(hex) && image.id.slice("sha256:".length).startsWith(hex)) {
        return image;
      }
      const digest = key.split("@")[1];
      if (digest !== undefined && digest === manifestDigest(image)) return image;
    }
    return undefined;
  }

  /** What a container does when started: its own behaviour, its service's, or its image's. */
  behaviourOf(container: FakeContainer): Behaviour {
    const service = container.labels["com.docker.compose.service"] ?? "";
    return this.behaviours.get(container.name) ?? this.behaviours.get(service) ??
      this.behaviours.get(shortReference(container.image)) ?? "run";
  }
}

/** `docker.io/library/app` and `app` are `app:latest`. */
export function shortReference(reference: string): string {
  const short = reference.replace(/^(?:index\.)?docker\.io\//, "").replace(/^library\//, "");
  if (short.includes("@") || short.startsWith("sha256:")) return short;
  return /:[^/]+$/.test(short) ? short : `${short}:latest`;
}

/** Digest of the manifest of an image in the fake registry. */
export function manifestDigest(image: FakeImage): string {
  return `sha256:${hexDigest(`manifest of ${image.id}`)}`;
}

/** 64 hex digits made of a text. */
export function hexDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
