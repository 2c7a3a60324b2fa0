import {
  asList,
  asRecord,
  asText,
  asTextList,
  asTexts,
  type JsonRecord,
} from "../../src/docker/json.ts";
import { emit } from "./fake_engine_life.ts";
import type { RouteAnswer, RouteRequest } from "./fake_engine_routes.ts";
import {
  type EngineState,
  type FakeContainer,
  type FakeEndpoint,
  type FakeMount,
  Refusal,
} from "./fake_engine_state.ts";

/** POST /containers/create. */
export function createContainer({ state, query, body }: RouteRequest): RouteAnswer {
  const id = state.newId();
  const name = query.get("name") ?? `fake_${id.slice(0, 8)}`;
  refuseTakenName(state, name);
  const image = asText(body["Image"]);
  const hostConfig = asRecord(body["HostConfig"]);
  const container: FakeContainer = {
    id,
    name,
    created: new Date(),
    config: body,
    hostConfig,
    labels: asTexts(body["Labels"]),
    image,
    imageId: state.image(image).id,
    endpoints: endpointsOf(state, body, hostConfig),
    mounts: mountsOf(state, body, hostConfig),
    state: "created",
    health: "none",
    exitCode: 0,
    error: "",
    oomKilled: false,
    restarts: 0,
    startedAt: undefined,
    finishedAt: undefined,
    output: [],
    timers: new Set(),
    waiters: new Set(),
  };
  state.containers.set(id, container);
  emit(state, container, "create");
  return { status: 201, json: { Id: id, Warnings: [] } };
}

/** Refuses with 409 when a container has that name. */
export function refuseTakenName(state: EngineState, name: string): void {
  for (const each of state.containers.values()) {
    if (each.name === name) {
      throw new Refusal(
        409,
        `Conflict. The container name "/${name}" is already in use by container "${each.id}".`,
      );
    }
  }
}

/** Makes a volume unless there is one of that name. */
export function ensureVolume(
  state: EngineState,
  name: string,
  made: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly driver?: string;
    readonly options?: Readonly<Record<string, string>>;
  } = {},
): void {
  if (state.volumes.has(name)) return;
  const { labels = {}, driver = "local", options = null } = made;
  state.volumes.set(name, { name, driver, labels, created: new Date(), options });
  state.emit("volume", "create", { id: name, attributes: { driver } });
}

function endpointsOf(
  state: EngineState,
  body: JsonRecord,
  hostConfig: JsonRecord,
): Map<string, FakeEndpoint> {
  const endpoints = new Map<string, FakeEndpoint>();
  const mode = asText(hostConfig["NetworkMode"]);
  if (mode.startsWith("container:")) return endpoints;
  const named = asRecord(asRecord(body["NetworkingConfig"])["EndpointsConfig"]);
  for (const [key, settings] of Object.entries(named)) {
    endpoints.set(networkName(state, key), {
      networkId: "",
      aliases: asTextList(asRecord(settings)["Aliases"]),
      address: asText(asRecord(asRecord(settings)["IPAMConfig"])["IPv4Address"]),
    });
  }
  const own = mode === "" || mode === "default" ? "bridge" : networkName(state, mode);
  if (!endpoints.has(own)) endpoints.set(own, { networkId: "", aliases: [] });
  return endpoints;
}

/** A network that does not exist is noticed at the start, as the real engine does. */
function networkName(state: EngineState, key: string): string {
  return state.networks.get(key)?.name ?? key;
}

function mountsOf(state: EngineState, body: JsonRecord, hostConfig: JsonRecord): FakeMount[] {
  const mounts = [
    ...asList(hostConfig["Mounts"]).map((each) => declaredMount(asRecord(each))),
    ...asTextList(hostConfig["Binds"]).map(bindMount),
  ];
  const labels = new Map(
    asList(hostConfig["Mounts"]).map(asRecord).map((each) => [
      asText(each["Target"]),
      asTexts(asRecord(each["VolumeOptions"])["Labels"]),
    ]),
  );
  const taken = new Set(mounts.map((each) => each.destination));
  for (const destination of Object.keys(asRecord(body["Volumes"]))) {
    if (!taken.has(destination)) mounts.push(volumeMount("", destination, true));
  }
  return mounts.map((mount) => {
    if (mount.type !== "volume") return mount;
    const named = mount.anonymous
      ? { ...mount, ...volumeMount(state.newId(), mount.destination, mount.writable) }
      : mount;
    ensureVolume(state, named.name, { labels: labels.get(mount.destination) ?? {} });
    return { ...named, anonymous: mount.anonymous };
  });
}

function declaredMount(mount: JsonRecord): FakeMount {
  const type = asText(mount["Type"]);
  const source = asText(mount["Source"]);
  const destination = asText(mount["Target"]);
  const writable = mount["ReadOnly"] !== true;
  if (type === "volume") return volumeMount(source, destination, writable);
  return { type, name: "", source, destination, writable, anonymous: false };
}

function bindMount(text: string): FakeMount {
  const [source = "", destination = "", options = ""] = text.split(":");
  const writable = !options.split(",").includes("ro");
  if (!source.startsWith("/")) return volumeMount(source, destination, writable);
  return { type: "bind", name: "", source, destination, writable, anonymous: false };
}

function volumeMount(name: string, destination: string, writable: boolean): FakeMount {
  const source = `/var/lib/docker/volumes/${name}/_data`;
  return { type: "volume", name, source, destination, writable, anonymous: name === "" };
}
