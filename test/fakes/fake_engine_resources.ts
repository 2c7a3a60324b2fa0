import { asList, asRecord, asText, asTextList, asTexts } from "../../src/docker/json.ts";
import { ensureVolume } from "./fake_engine_create.ts";
import {
  filtersOf,
  flag,
  matchesAny,
  matchesLabels,
  type Route,
  type RouteAnswer,
  type RouteRequest,
} from "./fake_engine_routes.ts";
import { Refusal } from "./fake_engine_state.ts";
import { membersOf, networkView, volumeView } from "./fake_engine_views.ts";

/** Routes below /networks and /volumes. */
export const resourceRoutes: readonly Route[] = [
  { method: "GET", path: /^\/networks$/, handle: listNetworks },
  { method: "POST", path: /^\/networks\/create$/, handle: createNetwork },
  { method: "GET", path: /^\/networks\/([^/]+)$/, handle: inspectNetwork },
  { method: "POST", path: /^\/networks\/([^/]+)\/connect$/, handle: connect },
  { method: "POST", path: /^\/networks\/([^/]+)\/disconnect$/, handle: disconnect },
  { method: "DELETE", path: /^\/networks\/([^/]+)$/, handle: removeNetwork },
  { method: "GET", path: /^\/volumes$/, handle: listVolumes },
  { method: "POST", path: /^\/volumes\/create$/, handle: createVolume },
  { method: "GET", path: /^\/volumes\/([^/]+)$/, handle: inspectVolume },
  { method: "DELETE", path: /^\/volumes\/([^/]+)$/, handle: removeVolume },
];

function listNetworks(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, ["label", "name", "id", "driver", "scope"]);
  const matching = [...request.state.networks.values()].filter((network) =>
    matchesLabels(network.labels, filters) &&
    matchesAny(filters, "name", (name) => new RegExp(name).test(network.name)) &&
    matchesAny(filters, "id", (id) => network.id.startsWith(id)) &&
    matchesAny(filters, "driver", (driver) => network.driver === driver) &&
    matchesAny(filters, "scope", (scope) => scope === scopeOf(network.driver))
  );
  return { status: 200, json: matching.map((each) => networkView(request.state, each)) };
}

function scopeOf(driver: string): string {
  return driver === "overlay" ? "swarm" : "local";
}

const ICC = "com.docker.network.bridge.enable_icc";

function createNetwork({ state, body }: RouteRequest): RouteAnswer {
  const name = asText(body["Name"]);
  if ([...state.networks.values()].some((network) => network.name === name)) {
    throw new Refusal(409, `network with name ${name} already exists`);
  }
  const icc = asTexts(body["Options"])[ICC] ?? "true";
  if (icc !== "true" && icc !== "false") {
    throw new Refusal(400, `failed to parse ${ICC} value: ${icc} (strconv.ParseBool: parsing)`);
  }
  const id = state.newId();
  const driver = asText(body["Driver"]) || "bridge";
  const labels = asTexts(body["Labels"]);
  const isChosen = asList(asRecord(body["IPAM"])["Config"]).length > 0;
  const subnet = isChosen ? {} : { subnet: state.newSubnet() };
  state.networks.set(id, { id, name, driver, labels, created: new Date(), spec: body, ...subnet });
  state.emit("network", "create", { id, attributes: { name, type: driver } });
  return { status: 201, json: { Id: id, Warning: "" } };
}

function inspectNetwork({ state, params }: RouteRequest): RouteAnswer {
  return { status: 200, json: networkView(state, state.network(params[0] ?? "")) };
}

function connect({ state, params, body }: RouteRequest): RouteAnswer {
  const network = state.network(params[0] ?? "");
  const container = state.container(asText(body["Container"]));
  const address = asText(asRecord(asRecord(body["EndpointConfig"])["IPAMConfig"])["IPv4Address"]);
  if (address !== "" && network.subnet !== undefined) {
    throw new Refusal(
      400,
      "invalid endpoint settings: user specified IP address is supported only when connecting to " +
        "networks with user configured subnets",
    );
  }
  container.endpoints.set(network.name, {
    networkId: network.id,
    aliases: asTextList(asRecord(body["EndpointConfig"])["Aliases"]),
    address,
    ip: address === "" ? state.newAddress(network) : address,
  });
  return { status: 200 };
}

function disconnect({ state, params, body }: RouteRequest): RouteAnswer {
  const network = state.network(params[0] ?? "");
  state.container(asText(body["Container"])).endpoints.delete(network.name);
  return { status: 200 };
}

function removeNetwork({ state, params }: RouteRequest): RouteAnswer {
  const network = state.network(params[0] ?? "");
  if (membersOf(state, network).length > 0) {
    throw new Refusal(
      403,
      `error while removing network: network ${network.name} id ${network.id} has active endpoints`,
    );
  }
  state.networks.delete(network.id);
  const attributes = { name: network.name, type: network.driver };
  state.emit("network", "destroy", { id: network.id, attributes });
  return { status: 204 };
}

function listVolumes(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, ["label", "name", "driver", "dangling"]);
  const used = usedVolumes(request);
  const matching = [...request.state.volumes.values()].filter((volume) =>
    matchesLabels(volume.labels, filters) &&
    matchesAny(filters, "name", (name) => new RegExp(name).test(volume.name)) &&
    matchesAny(filters, "driver", (driver) => volume.driver === driver) &&
    matchesAny(filters, "dangling", (value) => used.has(volume.name) !== (value !== "false"))
  );
  return { status: 200, json: { Volumes: matching.map(volumeView), Warnings: null } };
}

function createVolume({ state, body }: RouteRequest): RouteAnswer {
  const name = asText(body["Name"]) || state.newId();
  ensureVolume(state, name, {
    labels: asTexts(body["Labels"]),
    driver: asText(body["Driver"]) || "local",
    ...(body["DriverOpts"] === null ? {} : { options: asTexts(body["DriverOpts"]) }),
  });
  const volume = state.volumes.get(name);
  return { status: 201, json: volume === undefined ? null : volumeView(volume) };
}

function inspectVolume({ state, params }: RouteRequest): RouteAnswer {
  const volume = state.volumes.get(params[0] ?? "");
  if (volume === undefined) throw new Refusal(404, `get ${params[0]}: no such volume`);
  return { status: 200, json: volumeView(volume) };
}

function removeVolume(request: RouteRequest): RouteAnswer {
  const { state, params, query } = request;
  const name = params[0] ?? "";
  if (!state.volumes.has(name)) {
    if (flag(query, "force")) return { status: 204 };
    throw new Refusal(404, `get ${name}: no such volume`);
  }
  const user = usedVolumes(request).get(name);
  if (user !== undefined) throw new Refusal(409, `remove ${name}: volume is in use - [${user}]`);
  state.volumes.delete(name);
  state.emit("volume", "destroy", { id: name, attributes: { driver: "local" } });
  return { status: 204 };
}

/** Name of each mounted volume, with a container that has it. */
function usedVolumes({ state }: RouteRequest): Map<string, string> {
  const used = new Map<string, string>();
  for (const container of state.containers.values()) {
    for (const mount of container.mounts) used.set(mount.name, container.id);
  }
  return used;
}
