import type { ProjectEngine } from "../../src/deploy/mod.ts";
import type { ImageSummary, LabelFilter, ResourceSummary } from "../../src/docker/engine.ts";
import type { ContainerEvent } from "../../src/docker/events.ts";
import { hasPlace } from "../../src/docker/observed_container.ts";
import type { Swarm } from "../../src/docker/swarm.ts";
import { COMPOSE_LABELS, type ObservedContainer } from "../../src/model/mod.ts";

/** An {@link Engine} without an engine: what it has is a value that a test sets. */
export interface MemoryEngine extends ProjectEngine {
  containers: ObservedContainer[];
  networks: ResourceSummary[];
  volumes: ResourceSummary[];
  /** See `EngineInfo`; true by default. */
  keepsUnnamed: boolean;
  /** Image id by reference or id. */
  images: Record<string, string>;
  /** Restarts by container id. */
  restarts: Record<string, number>;
  /** Start time by container id. */
  starts: Record<string, Date>;
  /** Output by container id. */
  logs: Record<string, readonly string[]>;
  /** Every mutating call in order, such as `stop 1`. */
  readonly calls: string[];
  /** Lets those who listen hear that something happened to a container. */
  happen: (event?: Partial<ContainerEvent>) => void;
  /** Called before containers are listed; may change them, or throw. */
  onList: () => void;
  /** Called before a container is inspected; may change them, or throw. */
  onInspect: () => void;
  /** Called before every mutating call with its text; may throw. */
  onCall: (call: string) => void;
}

/** A container of compose project `project` that runs. */
export function runningContainer(
  project: string,
  service: string,
  fields: Partial<ObservedContainer> = {},
): ObservedContainer {
  const { labels, ...rest } = fields;
  return {
    id: `${service}-id`,
    name: `${project}-${service}-1`,
    service,
    state: "running",
    health: "none",
    exitCode: undefined,
    imageId: `sha256:${service}`,
    labels: {
      [COMPOSE_LABELS.project]: project,
      [COMPOSE_LABELS.service]: service,
      [COMPOSE_LABELS.number]: "1",
      ...labels,
    },
    ...rest,
  };
}

/** An engine that has nothing. */
export function createMemoryEngine(containers: ObservedContainer[] = []): MemoryEngine {
  const calls: string[] = [];
  const call = (text: string) => {
    engine.onCall(text);
    calls.push(text);
    return Promise.resolve();
  };
  const engine: MemoryEngine = {
    containers,
    networks: [],
    volumes: [],
    keepsUnnamed: true,
    images: {},
    restarts: {},
    starts: {},
    logs: {},
    calls,
    onList: () => {},
    onInspect: () => {},
    onCall: () => {},
    info: () =>
      Promise.resolve({
        id: "memory",
        hostname: "memory",
        version: "26.1",
        apiVersion: "1.45",
        swarm: "inactive",
        cluster: "",
        keepsUnnamed: engine.keepsUnnamed,
      }),
    apiVersion: () => Promise.resolve("1.45"),
    happen: () => {},
    async *containerEvents(_options, signal) {
      for (;;) {
        const event = await new Promise<Partial<ContainerEvent> | undefined>((resolve, reject) => {
          engine.happen = resolve;
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
        yield { action: "start", detail: "", containerId: "", attributes: {}, time: 0n, ...event };
      }
    },
    listContainers(labels, signal) {
      signal.throwIfAborted();
      engine.onList();
      const isOthers = COMPOSE_LABELS.project in labels && !(COMPOSE_LABELS.version in labels);
      return Promise.resolve(
        engine.containers.filter((each) =>
          matches(each.labels, labels) && (!isOthers || hasPlace(each))
        ),
      );
    },
    everyContainer: async (of, signal) =>
      (await engine.listContainers({}, signal)).map(of).filter((each) => each !== undefined),
    inspectContainer(id) {
      engine.onInspect();
      const container = engine.containers.find((each) => each.id === id);
      if (container === undefined) return Promise.resolve(undefined);
      return Promise.resolve({
        container,
        startedAt: engine.starts[id],
        restartCount: engine.restarts[id] ?? 0,
        stopTimeoutSeconds: 10,
        error: "",
        healthOutput: container.health === "unhealthy" ? "probe says no\n" : "",
        mounts: [],
        endpoints: Object.fromEntries(
          (container.networkNames ?? []).map((name) => [name, { ipv4: "", ipv6: "", aliases: [] }]),
        ),
      });
    },
    containerRecipe: () => Promise.resolve(undefined),
    async createContainer({ id, name }) {
      await call(`create ${name}`);
      return id;
    },
    async makeContainer({ name }) {
      await call(`make ${name}`);
      return `${name}-id`;
    },
    unpackInto: (id) => call(`unpack into ${id}`),
    containerLogs: (id, lines) => Promise.resolve([...engine.logs[id] ?? []].slice(-lines)),
    startContainer: (id) => call(`start ${id}`),
    stopContainer: (id) => call(`stop ${id}`),
    restartContainer: (id) => call(`restart ${id}`),
    async describeContainers(labels, signal) {
      const found = await engine.listContainers(labels, signal);
      return found.map((each) => ({
        ...each,
        program: "app",
        image: "app:1",
        createdAt: new Date(0),
        status: each.state,
        ports: [],
        mounts: [],
        localVolumes: 0,
      }));
    },
    renameContainer: (id, name) => call(`rename ${id} ${name}`),
    setRestartPolicy: (id, policy) => call(`restart policy ${id} ${policy["Name"]}`),
    unpauseContainer: (id) => call(`unpause ${id}`),
    killContainer: (id, signalName) => call(`kill ${id} ${signalName}`),
    async removeContainer(id, { volumes }) {
      await call(`remove ${id}${volumes ? " with volumes" : ""}`);
      engine.containers = engine.containers.filter((each) => each.id !== id);
    },
    imageId: (reference) => Promise.resolve(engine.images[reference]),
    imageLabels: (reference) =>
      Promise.resolve(Object.values(engine.images).includes(reference) ? {} : undefined),
    imageContent: (reference) => Promise.resolve(engine.images[reference]),
    imageVolumes: () => Promise.resolve([]),
    imageListed: (reference) => {
      const id = engine.images[reference];
      return Promise.resolve(id === undefined ? undefined : { id, labels: 0, all: 0 });
    },
    containerMounts: () => Promise.resolve([]),
    imageDefaults: () => Promise.resolve({ command: [], environment: [], checksHealth: false }),
    listImages: () => Promise.resolve<ImageSummary[]>([]),
    imagesInUse: () => Promise.resolve(new Set(engine.containers.map((each) => each.imageId))),
    removeImage: (id) => call(`remove image ${id}`),
    async tagImage(id, reference) {
      await call(`tag ${id} ${reference}`);
      engine.images[reference] = id;
    },
    listVolumes: (labels) =>
      Promise.resolve(engine.volumes.filter((each) => matches(each.labels, labels))),
    everyVolume: (isWanted) => Promise.resolve(engine.volumes.filter(({ name }) => isWanted(name))),
    findVolumes: (names) =>
      Promise.resolve(engine.volumes.filter((each) => names.includes(each.name))),
    makeVolume: ({ Name }) => call(`make volume ${Name}`),
    removeVolume: (name) => call(`remove volume ${name}`),
    listNetworks: (labels) =>
      Promise.resolve(engine.networks.filter((each) => matches(each.labels, labels))),
    findNetworks: (references) =>
      Promise.resolve(
        engine.networks.filter((each) =>
          [each.name, each.id].some((it) => references.includes(it))
        ),
      ),
    makeNetwork: ({ Name }) => call(`make network ${Name}`),
    connectNetwork: (network, { container, endpoint: { Aliases, IPAMConfig } }) => {
      const address = IPAMConfig?.IPv4Address ?? "";
      const place = [address, ...Aliases].filter((each) => each !== "").join(" ");
      return call(`connect ${container} to ${network}${place === "" ? "" : ` as ${place}`}`);
    },
    disconnectNetwork: (network, container) => call(`disconnect ${container} from ${network}`),
    removeNetwork: (id) => call(`remove network ${id}`),
    swarm: NO_SWARM,
    close: () => {},
  };
  return engine;
}

const refuse = () => Promise.reject(new Error("This node is not a swarm manager."));
const NO_SWARM: Swarm = {
  services: refuse,
  everyService: refuse,
  namedServices: refuse,
  service: refuse,
  tasks: refuse,
  tasksOf: refuse,
  createService: refuse,
  updateService: refuse,
  serviceLogs: refuse,
  removeService: refuse,
  objects: refuse,
  namedObjects: refuse,
  createObject: refuse,
  removeObject: refuse,
  networks: refuse,
  distribution: refuse,
};

function matches(labels: Readonly<Record<string, string>>, wanted: LabelFilter): boolean {
  return Object.entries(wanted).every(([key, value]) =>
    value === undefined ? labels[key] !== undefined : labels[key] === value
  );
}
