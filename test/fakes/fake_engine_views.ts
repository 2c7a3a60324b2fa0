import { asList, asRecord, asText, type Json, type JsonRecord } from "../../src/docker/json.ts";
import {
  type EngineState,
  type FakeContainer,
  type FakeImage,
  type FakeMount,
  type FakeNetwork,
  type FakeVolume,
  manifestDigest,
} from "./fake_engine_state.ts";

const NEVER = "0001-01-01T00:00:00Z";

/** A container as a list shows it. */
export function listedContainer(container: FakeContainer): JsonRecord {
  return {
    Id: container.id,
    Names: [`/${container.name}`],
    Image: container.image,
    ImageID: container.imageId,
    Command: "",
    Created: Math.floor(container.created.getTime() / 1000),
    Ports: heldPorts(container),
    Labels: container.labels,
    State: container.state,
    Status: statusText(container),
    HostConfig: { NetworkMode: container.hostConfig["NetworkMode"] ?? "default" },
    NetworkSettings: { Networks: endpoints(container) },
    Mounts: container.mounts.map(mount),
  };
}

/** The ports of the host that a running container holds, as a list shows them. */
function heldPorts(container: FakeContainer): JsonRecord[] {
  if (container.state !== "running") return [];
  const bindings = Object.entries(asRecord(container.hostConfig["PortBindings"]));
  return bindings.flatMap(([key, places]) => {
    const [port, protocol] = key.split("/");
    return asList(places).map(asRecord).map((place) => ({
      IP: asText(place["HostIp"]) || "0.0.0.0",
      PrivatePort: Number(port),
      PublicPort: Number(place["HostPort"]),
      Type: protocol ?? "tcp",
    }));
  });
}

/** A container as inspection shows it. */
export function inspectedContainer(container: FakeContainer): JsonRecord {
  const { HostConfig: _host, NetworkingConfig: _networking, ...config } = container.config;
  return {
    Id: container.id,
    Created: container.created.toISOString(),
    Name: `/${container.name}`,
    Path: "",
    Args: [],
    Image: container.imageId,
    RestartCount: container.restarts,
    Driver: "overlay2",
    Platform: "linux",
    State: inspectedState(container),
    HostConfig: container.hostConfig,
    Mounts: container.mounts.map(mount),
    Config: { ...config, Labels: container.labels },
    NetworkSettings: {
      Ports: container.state === "running" ? container.hostConfig["PortBindings"] ?? {} : {},
      Networks: endpoints(container),
    },
  };
}

/** A network, with the running containers on it. */
export function networkView(state: EngineState, network: FakeNetwork): JsonRecord {
  const connected = membersOf(state, network).map((container) => [container.id, {
    Name: container.name,
    EndpointID: container.id,
    MacAddress: "",
    IPv4Address: "",
    IPv6Address: "",
  }]);
  return {
    Name: network.name,
    Id: network.id,
    Created: network.created.toISOString(),
    Scope: "local",
    Driver: network.driver,
    EnableIPv6: network.spec["EnableIPv6"] ?? false,
    IPAM: network.subnet === undefined ? asRecord(network.spec["IPAM"]) : {
      ...asRecord(network.spec["IPAM"]),
      Config: [{ Subnet: network.subnet, Gateway: network.subnet.replace(/0\/24$/, "1") }],
    },
    Internal: network.spec["Internal"] ?? false,
    Attachable: network.spec["Attachable"] ?? false,
    Ingress: false,
    ConfigFrom: { Network: "" },
    ConfigOnly: false,
    Containers: Object.fromEntries(connected),
    Options: network.spec["Options"] ?? {},
    Labels: network.labels,
  };
}

/** Running containers on a network. */
export function membersOf(state: EngineState, network: FakeNetwork): FakeContainer[] {
  return [...state.containers.values()].filter((container) =>
    container.state === "running" && container.endpoints.has(network.name)
  );
}

/** A volume. */
export function volumeView(volume: FakeVolume): JsonRecord {
  return {
    Name: volume.name,
    Driver: volume.driver,
    Mountpoint: `/var/lib/docker/volumes/${volume.name}/_data`,
    CreatedAt: volume.created.toISOString(),
    Labels: volume.labels,
    Scope: "local",
    Options: volume.options,
  };
}

/** An image as a list shows it. */
export function listedImage(image: FakeImage): JsonRecord {
  return {
    Id: image.id,
    ParentId: "",
    RepoTags: [...image.tags],
    RepoDigests: repoDigests(image),
    Created: Math.floor(image.created.getTime() / 1000),
    Size: 1,
    SharedSize: -1,
    Containers: -1,
    Labels: image.labels,
  };
}

/** An image as inspection shows it. */
export function inspectedImage(image: FakeImage): JsonRecord {
  return {
    Id: image.id,
    RepoTags: [...image.tags],
    RepoDigests: repoDigests(image),
    Created: image.created.toISOString(),
    Architecture: "amd64",
    Os: "linux",
    Size: 1,
    Config: { Env: ["PATH=/bin"], Cmd: ["run"], Labels: image.labels, Volumes: null },
    RootFS: { Type: "layers", Layers: [image.id] },
    Metadata: { LastTagTime: image.created.toISOString() },
  };
}

function repoDigests(image: FakeImage): string[] {
  if (image.isLocal === true) return [];
  return [...image.tags].map((tag) => `${tag.replace(/:[^/:]+$/, "")}@${manifestDigest(image)}`);
}

function statusText(container: FakeContainer): string {
  const health = container.health === "none"
    ? ""
    : container.health === "starting"
    ? " (health: starting)"
    : ` (${container.health})`;
  switch (container.state) {
    case "running":
      return `Up ${since(container.startedAt)}${health}`;
    case "paused":
      return `Up ${since(container.startedAt)} (Paused)`;
    case "restarting":
      return `Restarting (${container.exitCode}) ${since(container.finishedAt)} ago`;
    case "exited":
      return `Exited (${container.exitCode}) ${since(container.finishedAt)} ago`;
    case "created":
      return "Created";
    case "dead":
      return "Dead";
    case "removing":
      return "Removal In Progress";
  }
}

function since(then: Date | undefined): string {
  const seconds = Math.floor((Date.now() - (then?.getTime() ?? Date.now())) / 1000);
  return seconds < 1 ? "Less than a second" : seconds === 1 ? "1 second" : `${seconds} seconds`;
}

function inspectedState(container: FakeContainer): JsonRecord {
  const health: Json = container.health === "none"
    ? {}
    : { Health: { Status: container.health, FailingStreak: 0, Log: [] } };
  return {
    Status: container.state,
    Running: container.state === "running" || container.state === "restarting",
    Paused: container.state === "paused",
    Restarting: container.state === "restarting",
    OOMKilled: container.oomKilled,
    Dead: container.state === "dead",
    Pid: container.state === "running" ? 4242 : 0,
    ExitCode: container.exitCode,
    Error: container.error,
    StartedAt: container.startedAt?.toISOString() ?? NEVER,
    FinishedAt: container.finishedAt?.toISOString() ?? NEVER,
    ...asRecord(health),
  };
}

function endpoints(container: FakeContainer): JsonRecord {
  return Object.fromEntries(
    [...container.endpoints].map(([name, endpoint]) => [name, {
      IPAMConfig: endpoint.address ? { IPv4Address: endpoint.address } : null,
      Links: null,
      Aliases: endpoint.aliases,
      NetworkID: endpoint.networkId,
      EndpointID: container.state === "running" ? container.id : "",
      Gateway: "",
      IPAddress: container.state === "running" ? endpoint.ip ?? "" : "",
      IPPrefixLen: 0,
      MacAddress: "",
      DriverOpts: null,
    }]),
  );
}

function mount(each: FakeMount): JsonRecord {
  return {
    Type: each.type,
    ...(each.name === "" ? {} : { Name: each.name, Driver: "local" }),
    Source: each.source,
    Destination: each.destination,
    Mode: "",
    RW: each.writable,
    Propagation: "",
  };
}
