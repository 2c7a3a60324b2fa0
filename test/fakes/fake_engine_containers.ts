import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import { asRecord, asText } from "../../src/docker/json.ts";
import { createContainer, refuseTakenName } from "./fake_engine_create.ts";
import { emit, kill, remove, start, stop } from "./fake_engine_life.ts";
import {
  filtersOf,
  flag,
  matchesAny,
  matchesLabels,
  type Route,
  type RouteAnswer,
  type RouteRequest,
} from "./fake_engine_routes.ts";
import { type FakeContainer, Refusal } from "./fake_engine_state.ts";
import { inspectedContainer, listedContainer } from "./fake_engine_views.ts";

const LIST_FILTERS = ["label", "name", "id", "status", "health", "network", "volume"];

/** Routes below /containers. */
export const containerRoutes: readonly Route[] = [
  { method: "GET", path: /^\/containers\/json$/, handle: listContainers },
  { method: "POST", path: /^\/containers\/create$/, handle: createContainer },
  { method: "GET", path: /^\/containers\/([^/]+)\/json$/, handle: inspect },
  { method: "GET", path: /^\/containers\/([^/]+)\/logs$/, handle: logs },
  { method: "POST", path: /^\/containers\/([^/]+)\/start$/, handle: startContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/stop$/, handle: stopContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/restart$/, handle: restartContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/kill$/, handle: killContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/pause$/, handle: pauseContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/unpause$/, handle: unpauseContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/rename$/, handle: renameContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/update$/, handle: updateContainer },
  { method: "POST", path: /^\/containers\/([^/]+)\/wait$/, handle: waitContainer },
  // Files copied into a container are accepted and forgotten: nothing in the fake reads them.
  { method: "PUT", path: /^\/containers\/([^/]+)\/archive$/, handle: putArchive },
  { method: "DELETE", path: /^\/containers\/([^/]+)$/, handle: removeContainer },
];

function listContainers(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, LIST_FILTERS);
  const all = flag(request.query, "all") || filters.has("status");
  const matching = [...request.state.containers.values()].filter((container) =>
    (all || container.state === "running" || container.state === "paused" ||
      container.state === "restarting") &&
    matchesLabels(container.labels, filters) &&
    matchesAny(filters, "name", (name) => `/${container.name}`.includes(name)) &&
    matchesAny(filters, "id", (id) => container.id.startsWith(id)) &&
    matchesAny(filters, "status", (status) => container.state === status) &&
    matchesAny(filters, "health", (health) => container.health === health) &&
    matchesAny(filters, "network", (name) => container.endpoints.has(name)) &&
    matchesAny(filters, "volume", (name) => container.mounts.some((each) => each.name === name))
  );
  // The real engine lists the newest first.
  return { status: 200, json: matching.reverse().map(listedContainer) };
}

function inspect(request: RouteRequest): RouteAnswer {
  return { status: 200, json: inspectedContainer(subject(request)) };
}

function startContainer(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  if (container.state === "paused") {
    throw new Refusal(409, "cannot start a paused container, try unpause instead");
  }
  if (container.state !== "running") container.restarts = 0;
  return { status: start(request.state, container) ? 204 : 304 };
}

function stopContainer(request: RouteRequest): RouteAnswer {
  return { status: stop(request.state, subject(request)) ? 204 : 304 };
}

function restartContainer(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  stop(request.state, container);
  start(request.state, container);
  emit(request.state, container, "restart");
  return { status: 204 };
}

function killContainer(request: RouteRequest): RouteAnswer {
  kill(request.state, subject(request), request.query.get("signal") ?? "");
  return { status: 204 };
}

function renameContainer(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  const name = request.query.get("name") ?? "";
  refuseTakenName(request.state, name);
  const oldName = container.name;
  container.name = name;
  emit(request.state, container, "rename", { oldName: `/${oldName}` });
  return { status: 204 };
}

/** What has no value is not changed, as the real engine does. */
function updateContainer(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  const policy = asRecord(request.body["RestartPolicy"]);
  const changes = Object.entries(request.body).filter(([name, value]) =>
    name !== "RestartPolicy" && value !== null && value !== 0 && value !== "" &&
    (!Array.isArray(value) || value.length > 0)
  );
  container.hostConfig = {
    ...container.hostConfig,
    ...Object.fromEntries(changes),
    ...(asText(policy["Name"]) === "" ? {} : { RestartPolicy: policy }),
  };
  emit(request.state, container, "update");
  return { status: 200, json: { Warnings: [] } };
}

function pauseContainer(request: RouteRequest): RouteAnswer {
  return turn(request, { from: "running", to: "paused", event: "pause" });
}

function unpauseContainer(request: RouteRequest): RouteAnswer {
  return turn(request, { from: "paused", to: "running", event: "unpause" });
}

function turn(
  request: RouteRequest,
  { from, to, event }: {
    readonly from: FakeContainer["state"];
    readonly to: FakeContainer["state"];
    readonly event: string;
  },
): RouteAnswer {
  const container = subject(request);
  if (container.state !== from) throw new Refusal(409, `container ${container.id} is not ${from}`);
  container.state = to;
  emit(request.state, container, event);
  return { status: 204 };
}

function putArchive(request: RouteRequest): RouteAnswer {
  subject(request);
  return { status: 200 };
}

function removeContainer(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  const active = container.state === "running" || container.state === "restarting";
  if (active && !flag(request.query, "force")) {
    throw new Refusal(
      409,
      `cannot remove container "/${container.name}": container is running: ` +
        "stop the container before removing or force remove",
    );
  }
  remove(request.state, container, { volumes: flag(request.query, "v") });
  return { status: 204 };
}

function waitContainer(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  const condition = request.query.get("condition") ?? "not-running";
  const isOver = () =>
    condition === "removed"
      ? !request.state.containers.has(container.id)
      : container.state === "exited" || container.state === "dead" ||
        (condition === "not-running" && container.state === "created");
  const answer = () => ({ StatusCode: container.exitCode });
  if (condition !== "next-exit" && isOver()) return { status: 200, json: answer() };
  return {
    stream(response) {
      const waiter = () => {
        if (!isOver()) return;
        container.waiters.delete(waiter);
        response.end(JSON.stringify(answer()));
      };
      container.waiters.add(waiter);
      response.on("close", () => container.waiters.delete(waiter));
      response.writeHead(200, { "Content-Type": "application/json" });
      response.flushHeaders();
    },
  };
}

function logs(request: RouteRequest): RouteAnswer {
  const container = subject(request);
  if (flag(request.query, "follow")) throw new Refusal(501, "fake engine: logs do not follow");
  const tail = Number(request.query.get("tail") ?? "all");
  const wanted = container.output.filter(({ stream }) =>
    flag(request.query, stream === 1 ? "stdout" : "stderr")
  );
  const chosen = Number.isNaN(tail) ? wanted : tail === 0 ? [] : wanted.slice(-tail);
  const terminal = container.config["Tty"] === true;
  return {
    stream(response: ServerResponse) {
      const type = terminal ? "raw-stream" : "multiplexed-stream";
      response.writeHead(200, { "Content-Type": `application/vnd.docker.${type}` });
      const stamp = flag(request.query, "timestamps") ? "2026-01-01T00:00:00.000000000Z " : "";
      for (const { stream, text } of chosen) {
        const bytes = Buffer.from(`${stamp}${text}${terminal ? "\r\n" : "\n"}`);
        response.write(terminal ? bytes : frame(stream, bytes));
      }
      response.end();
    },
  };
}

function frame(stream: 1 | 2, bytes: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

function subject(request: RouteRequest): FakeContainer {
  return request.state.container(request.params[0] ?? "");
}
