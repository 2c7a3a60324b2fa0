/**
 * An engine in memory that speaks the Engine API over a unix socket, well enough for the real
 * `docker compose` to drive it. Tests script what containers do, create drift, and ask what was
 * called and what is there. A call it does not know is answered 501, loudly.
 */
import type { ContainerHealth, ContainerState } from "../../src/model/mod.ts";
import { takeBack } from "./fake_engine_swarm.ts";
import { type EngineCall, isPull } from "./engine_calls.ts";
import { imageOf, take } from "./fake_engine_images.ts";
import { clearTimers, emit, exit, remove, setHealth, stop } from "./fake_engine_life.ts";
import { serveEngine } from "./fake_engine_server.ts";
import {
  type Behaviour,
  EngineState,
  type FakeContainer,
  shortReference,
} from "./fake_engine_state.ts";

export type { Behaviour } from "./fake_engine_state.ts";

/** What an image is added with. */
export interface ImageOptions {
  /** What its containers do when started; they run, and are healthy at once, by default. */
  readonly onStart?: Behaviour;
  /** Another content under the same name is another image. */
  readonly content?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Where it is: on the engine, in the registry that pulls reach, or (default) both. */
  readonly where?: "engine" | "registry" | "both";
}

/** A container, as it is at this moment. */
export interface ContainerSnapshot {
  readonly id: string;
  readonly name: string;
  readonly service: string;
  readonly image: string;
  readonly imageId: string;
  readonly state: ContainerState;
  readonly health: ContainerHealth;
  readonly exitCode: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Names, sorted. */
  readonly networks: readonly string[];
  /** Names by which others in its networks find it, besides its own. */
  readonly aliases: readonly string[];
  /** Names of volumes, sorted. */
  readonly volumes: readonly string[];
  readonly mounts: readonly { readonly source: string; readonly destination: string }[];
  readonly env: readonly string[];
}

/** A network or volume, as it is at this moment. */
export interface ResourceSnapshot {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A running fake engine. Containers are named by name or id. */
export interface FakeEngine {
  /** For `DOCKER_HOST`. */
  readonly host: string;
  readonly socketPath: string;
  /** Every request in order of arrival. */
  readonly requests: readonly EngineCall[];
  mutations(): number;
  pulls(): number;
  /** Forgets the requests so far. */
  resetRequests(): void;

  /** Adds an image and returns its content id. May be called again to replace what a name means. */
  addImage(reference: string, options?: ImageOptions): string;
  /**
   * Sets what containers do when started from now on, by container name, compose service or image
   * reference; the most specific one counts.
   */
  setBehaviour(selector: string, behaviour: Behaviour): void;
  /** Speaks an API up to this version from now on; what it does stays the same. */
  speak(apiVersion: string): void;
  /** Says from now on that it is the engine with this id, as a copy of a machine does. */
  sayId(id: string): void;
  /** Says from now on that it manages a swarm. */
  becomeManager(): void;
  /** Says from now on that its swarm is in a state such as `locked`, in which nothing is managed; `undefined` ends that. */
  saySwarm(down: string | undefined): void;
  /** Whether it is to manage one. */
  isManager(): boolean;
  /** Takes an update of a service of the swarm back, whose tasks fail while it is watched. */
  takeBack(service: string, error: string): void;
  /** Ends a container's process, as a crash does: its restart policy applies. */
  crash(container: string, exitCode?: number): void;
  /** As {@link FakeEngine.crash}, by the kernel for want of memory. */
  killForMemory(container: string): void;
  /** Stops a container, as somebody at a terminal would. */
  stopContainer(container: string): void;
  /** Takes a container away, as somebody at a terminal would. */
  removeContainer(container: string): void;
  setHealth(container: string, health: "starting" | "healthy" | "unhealthy"): void;
  /** Lets the registry refuse every pull and repeat the credentials it was given, or ends that. */
  echoCredentials(on: boolean): void;
  /** Lets a container write a line. */
  writeLog(container: string, line: string, stream?: "stdout" | "stderr"): void;

  /** Sorted by name, like the other two. */
  containers(): ContainerSnapshot[];
  /** Without the three every engine has. */
  networks(): ResourceSnapshot[];
  volumes(): ResourceSnapshot[];
  /** Every tag on the engine with the content id it names. */
  images(): Readonly<Record<string, string>>;
  /** Closes every connection and the socket; timers end. May be called twice. */
  close(): Promise<void>;
}

/** Starts an engine without containers and images. */
export async function createFakeEngine(
  options: { readonly socketPath: string },
): Promise<FakeEngine> {
  const state = new EngineState();
  const requests: EngineCall[] = [];
  const server = await serveEngine(state, options.socketPath, (call) => requests.push(call));
  let closing: Promise<void> | undefined;
  return {
    host: `unix://${options.socketPath}`,
    socketPath: options.socketPath,
    requests,
    mutations: () => requests.filter((call) => call.mutating).length,
    pulls: () => requests.filter(isPull).length,
    resetRequests: () => void requests.splice(0),
    ...script(state),
    ...snapshots(state),
    close: () => closing ??= close(state, server),
  };
}

function script(state: EngineState) {
  return {
    addImage: (reference: string, options: ImageOptions = {}) =>
      addImage(state, reference, options),
    setBehaviour: (selector: string, behaviour: Behaviour) => {
      const key = selector.includes(":") ? shortReference(selector) : selector;
      state.behaviours.set(key, behaviour);
    },
    speak: (apiVersion: string) => void (state.apiVersion = apiVersion),
    sayId: (id: string) => void (state.id = id),
    becomeManager: () => void (state.isManager = true),
    saySwarm: (down: string | undefined) => void (state.swarmDown = down),
    isManager: () => state.isManager,
    takeBack: (service: string, error: string) => takeBack(state, service, error),
    crash: (key: string, exitCode = 1) => exit(state, running(state, key), exitCode),
    killForMemory: (key: string) => {
      const container = running(state, key);
      emit(state, container, "oom");
      exit(state, container, 137);
      container.oomKilled = true;
    },
    stopContainer: (key: string) => void stop(state, state.container(key)),
    removeContainer: (key: string) => remove(state, state.container(key), { volumes: true }),
    setHealth: (key: string, health: "starting" | "healthy" | "unhealthy") =>
      setHealth(state, state.container(key), health),
    echoCredentials: (on: boolean) => void (state.echoesCredentials = on),
    writeLog: (key: string, text: string, stream: "stdout" | "stderr" = "stdout") =>
      void state.container(key).output.push({ stream: stream === "stdout" ? 1 : 2, text }),
  };
}

function snapshots(state: EngineState) {
  return {
    containers: () => [...state.containers.values()].map(snapshot).sort(byName),
    networks: () =>
      [...state.networks.values()].filter((each) => !["bridge", "host", "none"].includes(each.name))
        .map(({ name, labels }) => ({ name, labels })).sort(byName),
    volumes: () =>
      [...state.volumes.values()].map(({ name, labels }) => ({ name, labels })).sort(byName),
    images: () =>
      Object.fromEntries(
        [...state.images.values()].flatMap(({ id, tags }) => [...tags].map((tag) => [tag, id])),
      ),
  };
}

function addImage(state: EngineState, reference: string, options: ImageOptions): string {
  const tag = shortReference(reference);
  const image = imageOf(tag, options.content, options.labels);
  const where = options.where ?? "both";
  if (where !== "registry") {
    take(state, where === "engine" ? { ...image, isLocal: true } : image, tag);
  }
  if (where !== "engine") state.registry.set(tag, image);
  if (options.onStart !== undefined) state.behaviours.set(tag, options.onStart);
  return image.id;
}

/** A test that crashes what does not run is wrong about its own scenario. */
function running(state: EngineState, key: string): FakeContainer {
  const container = state.container(key);
  if (container.state !== "running") throw new Error(`${key} is ${container.state}, not running`);
  return container;
}

function snapshot(container: FakeContainer): ContainerSnapshot {
  const volumes = container.mounts.filter((mount) => mount.type === "volume");
  const env = container.config["Env"];
  return {
    id: container.id,
    name: container.name,
    service: container.labels["com.docker.compose.service"] ?? "",
    image: container.image,
    imageId: container.imageId,
    state: container.state,
    health: container.health,
    exitCode: container.exitCode,
    labels: container.labels,
    networks: [...container.endpoints.keys()].sort(),
    aliases: [...container.endpoints.values()].flatMap(({ aliases }) => aliases),
    volumes: volumes.map((mount) => mount.name).sort(),
    mounts: container.mounts.map(({ source, destination }) => ({ source, destination })),
    env: Array.isArray(env) ? env.map(String) : [],
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

async function close(state: EngineState, server: { close(): Promise<void> }): Promise<void> {
  for (const container of state.containers.values()) clearTimers(container);
  await server.close();
}
