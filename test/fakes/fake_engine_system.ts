import type { ServerResponse } from "node:http";
import {
  type Filters,
  filtersOf,
  matchesAny,
  matchesLabels,
  type Route,
  type RouteAnswer,
  type RouteRequest,
} from "./fake_engine_routes.ts";
import { type FakeEvent, Refusal } from "./fake_engine_state.ts";

/** Engine version of the fake engine. */
export const FAKE_VERSION = "26.1.0-fake";

const PING = {
  "Docker-Experimental": "false",
  "Builder-Version": "2",
  "Ostype": "linux",
  "Swarm": "inactive",
};
const EVENT_FILTERS = ["type", "event", "label", "container", "image"];

/** Routes that belong to no kind of object. */
export const systemRoutes: readonly Route[] = [
  { method: "GET", path: /^\/_ping$/, handle: ping },
  { method: "HEAD", path: /^\/_ping$/, handle: ping },
  { method: "GET", path: /^\/version$/, handle: version },
  { method: "GET", path: /^\/info$/, handle: info },
  { method: "GET", path: /^\/events$/, handle: events },
  { method: "POST", path: /^\/auth$/, handle: auth },
  ...["GET", "POST", "DELETE"].map((method) => ({
    method,
    path: /^\/(?:services|tasks|nodes|configs|secrets|swarm)(?:\/.*)?$/,
    handle: noSwarm,
  })),
];

function ping({ state }: RouteRequest): RouteAnswer {
  return { status: 200, headers: { ...PING, "Api-Version": state.apiVersion } };
}

function version({ state }: RouteRequest): RouteAnswer {
  return {
    status: 200,
    json: {
      Platform: { Name: "" },
      Version: FAKE_VERSION,
      ApiVersion: state.apiVersion,
      MinAPIVersion: "1.24",
      Os: "linux",
      Arch: "amd64",
      KernelVersion: "6.0",
      GoVersion: "go0",
      Components: [],
    },
  };
}

function info({ state }: RouteRequest): RouteAnswer {
  return {
    status: 200,
    json: {
      ID: state.id,
      Name: "fake",
      ServerVersion: FAKE_VERSION,
      OSType: "linux",
      OperatingSystem: "fake",
      Architecture: "x86_64",
      NCPU: 2,
      MemTotal: 1 << 30,
      Driver: "overlay2",
      DriverStatus: [],
      SecurityOptions: [],
      Plugins: { Volume: ["local"], Network: ["bridge", "host", "null"] },
      Containers: state.containers.size,
      Images: state.images.size,
      Swarm: state.swarmDown !== undefined
        ? { NodeID: "", LocalNodeState: state.swarmDown, ControlAvailable: false }
        : state.isManager
        ? { NodeID: "fake", LocalNodeState: "active", ControlAvailable: true }
        : { NodeID: "", LocalNodeState: "inactive", ControlAvailable: false },
    },
  };
}

function auth(): RouteAnswer {
  return { status: 200, json: { Status: "Login Succeeded", IdentityToken: "" } };
}

function noSwarm(): RouteAnswer {
  throw new Refusal(503, "This node is not a swarm manager.");
}

function events(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, EVENT_FILTERS);
  const since = timeOf(request.query.get("since"));
  const until = timeOf(request.query.get("until"));
  const { state } = request;
  return {
    stream(response) {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.flushHeaders();
      const tell = (event: FakeEvent) => writeEvent(response, event, filters);
      if (since !== undefined) state.events.filter((event) => event.time >= since).forEach(tell);
      if (until !== undefined) return void response.end();
      state.listeners.add(tell);
      response.on("close", () => state.listeners.delete(tell));
    },
  };
}

function writeEvent(response: ServerResponse, event: FakeEvent, filters: Filters): void {
  const action = event.action.split(":")[0] ?? "";
  const wanted = matchesAny(filters, "type", (type) => event.type === type) &&
    matchesAny(filters, "event", (name) => name === action || name === event.action) &&
    matchesLabels(event.attributes, filters) &&
    matchesAny(filters, "image", (image) => event.attributes["image"] === image) &&
    matchesAny(
      filters,
      "container",
      (key) => event.id === key || event.attributes["name"] === key,
    );
  if (!wanted) return;
  const text = JSON.stringify({
    Type: event.type,
    Action: event.action,
    Actor: { ID: event.id, Attributes: event.attributes },
    scope: "local",
    time: Number(event.time / 1_000_000_000n),
  });
  // Nanoseconds do not fit into a number, so they are written as text without quotes.
  response.write(`${text.slice(0, -1)},"timeNano":${event.time}}\n`);
}

/** `seconds[.nanoseconds]` as nanoseconds. */
function timeOf(text: string | null): bigint | undefined {
  if (text === null || text === "") return undefined;
  const [seconds = "0", fraction = ""] = text.split(".");
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}
