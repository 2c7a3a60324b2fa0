/**
 * The swarm of the fake engine: services whose tasks are at once what their image or service was told
 * to do. A task that fails is followed by another one each time somebody looks.
 */
import {
  asList,
  asNumber,
  asRecord,
  asText,
  asTextList,
  asTexts,
  type Json,
  type JsonRecord,
} from "../../src/docker/json.ts";
import {
  filtersOf,
  matchesAny,
  matchesLabels,
  type Route,
  type RouteAnswer,
  type RouteRequest,
} from "./fake_engine_routes.ts";
import {
  type Behaviour,
  type EngineState,
  manifestDigest,
  Refusal,
  shortReference,
} from "./fake_engine_state.ts";
import type { FakeObject, FakeService, FakeTask } from "./fake_engine_swarm_state.ts";

/** How many ended tasks of a slot are remembered. */
const REMEMBERED = 5;

/** Routes of a manager. */
export const swarmRoutes: readonly Route[] = [
  route("GET", /^\/services$/, listServices),
  route("POST", /^\/services\/create$/, createService),
  route("POST", /^\/services\/([^/]+)\/update$/, updateService),
  route("DELETE", /^\/services\/([^/]+)$/, removeService),
  route("GET", /^\/services\/([^/]+)$/, (request) => ({
    status: 200,
    json: shownService(serviceOf(request)),
  })),
  route("GET", /^\/services\/([^/]+)\/logs$/, serviceLogs),
  route("GET", /^\/tasks$/, listTasks),
  route("GET", /^\/(configs|secrets)$/, listObjects),
  route("POST", /^\/(configs|secrets)\/create$/, createObject),
  route("DELETE", /^\/(configs|secrets)\/([^/]+)$/, removeObject),
  { method: "GET", path: /^\/distribution\/(.+)\/json$/, handle: distribution },
];

function route(method: string, path: RegExp, handle: Route["handle"]): Route {
  return {
    method,
    path,
    handle(request) {
      const { isManager, swarmDown } = request.state;
      if (!isManager || swarmDown !== undefined) {
        throw new Refusal(503, "This node is not a swarm manager.");
      }
      return handle(request);
    },
  };
}

function listServices(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, ["label", "name"]);
  const services = [...request.state.swarm.services.values()];
  const found = services.filter(({ spec }) =>
    matchesLabels(asTexts(spec["Labels"]), filters) &&
    matchesAny(filters, "name", (name) => asText(spec["Name"]).startsWith(name))
  );
  return {
    status: 200,
    json: found.map(shownService),
  };
}

function shownService(service: FakeService): JsonRecord {
  const { id, version, spec, previous, update, iteration } = service;
  return {
    ID: id,
    Version: { Index: version },
    Spec: spec,
    ...(previous === undefined ? {} : { PreviousSpec: previous }),
    ...(update === undefined ? {} : { UpdateStatus: update }),
    ...(isJob(spec) ? { JobStatus: { JobIteration: { Index: iteration } } } : {}),
  };
}

/** What a command of the shape `echo TEXT; …` printed. */
function serviceLogs(request: RouteRequest): RouteAnswer {
  const { spec } = serviceOf(request);
  const container = asRecord(asRecord(spec["TaskTemplate"])["ContainerSpec"]);
  const texts = asTextList(container["Args"]).map((each) => /^echo (.*?);/.exec(each)?.[1] ?? "");
  const body = new TextEncoder().encode(texts.filter((each) => each !== "").join("\n"));
  const frame = new Uint8Array(8 + body.length);
  frame[0] = 1;
  new DataView(frame.buffer).setUint32(4, body.length);
  frame.set(body, 8);
  return {
    stream(response) {
      response.writeHead(200, { "Content-Type": "application/vnd.docker.multiplexed-stream" });
      response.end(frame);
    },
  };
}

function tellOf({ id, spec, update }: FakeService, action: string, state: EngineState): void {
  const now = action === "update" ? asText(update?.["State"]) : "";
  const attributes = {
    name: asText(spec["Name"]),
    ...(now === "" ? {} : { "updatestate.new": now }),
  };
  state.emit("service", action, { id, attributes });
}

/** What an engine does by itself when the tasks of an update fail while it watches them. */
export function takeBack(state: EngineState, name: string, error: string): void {
  const service = [...state.swarm.services.values()].find(({ spec }) => spec["Name"] === name);
  if (service?.previous === undefined) throw new Error(`there is nothing to take ${name} back to`);
  const [spec, began] = [service.previous, service.update?.["StartedAt"]];
  for (const task of tasksOf(state, service)) Object.assign(task, { state: "failed", error });
  putBack(state, service, { spec, Message: "rollback completed", StartedAt: began ?? now() });
  tellOf(service, "update", state);
}

function putBack(
  state: EngineState,
  service: FakeService,
  { spec, ...said }: { spec: JsonRecord; Message: string; StartedAt: Json },
): void {
  service.spec = spec;
  service.previous = undefined;
  service.version = state.swarm.nextVersion();
  endTasks(state, service);
  settle(state, service);
  service.update = { State: "rollback_completed", ...said };
}

function now(): string {
  return new Date().toISOString();
}

function createService({ state, body }: RouteRequest): RouteAnswer {
  const name = asText(body["Name"]);
  if ([...state.swarm.services.values()].some(({ spec }) => spec["Name"] === name)) {
    throw new Refusal(
      409,
      "rpc error: code = AlreadyExists desc = name conflicts with an existing",
    );
  }
  const id = state.newId().slice(0, 25);
  const spec = accepted(state, body);
  const version = state.swarm.nextVersion();
  const service = { id, version, spec, previous: undefined, update: undefined, iteration: 0 };
  state.swarm.services.set(id, service);
  settle(state, service);
  tellOf(service, "create", state);
  return { status: 201, json: { ID: id } };
}

function updateService(request: RouteRequest): RouteAnswer {
  const { state, query, body } = request;
  const service = serviceOf(request);
  if (query.get("version") !== String(service.version)) {
    throw new Refusal(500, "rpc error: code = Unknown desc = update out of sequence");
  }
  if (body["Name"] !== service.spec["Name"]) {
    throw new Refusal(
      501,
      "rpc error: code = Unimplemented desc = renaming services is not supported",
    );
  }
  if (modeName(body) !== modeName(service.spec)) {
    throw new Refusal(
      501,
      "rpc error: code = Unimplemented desc = service mode change is not allowed",
    );
  }
  const before = service.spec;
  if (query.get("rollback") === "previous") {
    const spec = service.previous;
    if (spec === undefined) throw new Refusal(400, "service does not have a previous spec");
    putBack(state, service, { spec, Message: "rollback completed", StartedAt: now() });
    service.previous = before;
    tellOf(service, "update", state);
    return { status: 200, json: { Warnings: null } };
  }
  service.previous = before;
  service.spec = accepted(state, body);
  service.version = state.swarm.nextVersion();
  service.update = undefined;
  if (isJob(service.spec)) service.iteration++;
  const isReplaced = isJob(service.spec) || template(before) !== template(service.spec);
  if (isReplaced) replaceTasks(state, service, before);
  else settle(state, service);
  tellOf(service, "update", state);
  return { status: 200, json: { Warnings: null } };
}

/** New tasks in the place of all, and what the engine says of that. */
function replaceTasks(state: EngineState, service: FakeService, before: JsonRecord): void {
  const StartedAt = now();
  endTasks(state, service);
  settle(state, service);
  if (isJob(service.spec)) return;
  const bad = tasksOf(state, service).find(({ state }) => state !== "running");
  if (bad === undefined) {
    service.update = { State: "completed", Message: "update completed", StartedAt };
    return;
  }
  if (bad.state === "starting") {
    service.update = { State: "updating", Message: "update in progress", StartedAt };
    return;
  }
  const why = `due to failure or early termination of task ${bad.id}`;
  if (asText(asRecord(service.spec["UpdateConfig"])["FailureAction"]) !== "rollback") {
    service.update = { State: "paused", Message: `update paused ${why}`, StartedAt };
    return;
  }
  putBack(state, service, { spec: before, Message: `update rolled back ${why}`, StartedAt });
}

function removeService(request: RouteRequest): RouteAnswer {
  const { swarm } = request.state;
  const service = serviceOf(request);
  const { id } = service;
  tellOf(service, "remove", request.state);
  swarm.services.delete(id);
  swarm.tasks = swarm.tasks.filter(({ serviceId }) => serviceId !== id);
  return { status: 200 };
}

function serviceOf({ state, params }: RouteRequest): FakeService {
  const key = params[0] ?? "";
  const all = [...state.swarm.services.values()];
  const found = all.find(({ id, spec }) => id === key || spec["Name"] === key);
  if (found === undefined) throw new Refusal(404, `service ${key} not found`);
  return found;
}

function listTasks(request: RouteRequest): RouteAnswer {
  const { state } = request;
  const filters = filtersOf(request, ["label", "service"]);
  state.swarm.tasks.forEach(age);
  for (const service of state.swarm.services.values()) followFailed(state, service);
  const only = filters.get("service");
  const gone = only?.find((id) => !state.swarm.services.has(id));
  if (gone !== undefined) throw new Refusal(404, `service ${gone} not found`);
  const found = state.swarm.tasks.filter(({ serviceId }) => {
    if (only?.includes(serviceId) === false) return false;
    const spec = state.swarm.services.get(serviceId)?.spec ?? {};
    return matchesLabels(asTexts(spec["Labels"]), filters);
  });
  return {
    status: 200,
    json: found.map((task) => ({
      ID: task.id,
      ServiceID: task.serviceId,
      Slot: task.slot,
      NodeID: "fake",
      CreatedAt: task.created.toISOString(),
      Spec: task.spec,
      DesiredState: task.desired,
      JobIteration: { Index: task.iteration },
      Status: {
        State: task.state,
        Timestamp: task.since.toISOString(),
        ...(task.error === "" ? {} : { Err: task.error }),
        ContainerStatus: { ExitCode: task.exitCode },
      },
    })),
  };
}

/** The spec as the engine keeps it: networks by id. */
function accepted(state: EngineState, body: JsonRecord): JsonRecord {
  const task = asRecord(body["TaskTemplate"]);
  const networks = asList(task["Networks"]).map(asRecord).map((each) => {
    try {
      return { ...each, Target: state.network(asText(each["Target"])).id };
    } catch {
      throw new Refusal(500, `network ${asText(each["Target"])} not found`);
    }
  });
  const container = asRecord(task["ContainerSpec"]);
  for (const kind of ["Configs", "Secrets"] as const) {
    for (const each of asList(container[kind]).map(asRecord)) {
      const id = asText(each[kind === "Configs" ? "ConfigID" : "SecretID"]);
      const known = kind === "Configs" ? state.swarm.configs : state.swarm.secrets;
      if (!known.has(id)) throw new Refusal(400, `${kind.toLowerCase()} ${id} not found`);
    }
  }
  return {
    ...body,
    TaskTemplate: { ...task, ...(networks.length === 0 ? {} : { Networks: networks }) },
  };
}

/** What makes new tasks when it changes; a placement that allows the node does not. */
function template(spec: JsonRecord): string {
  const { Placement: _placement, ...rest } = asRecord(spec["TaskTemplate"]);
  return JSON.stringify([rest, spec["EndpointSpec"]]);
}

function modeName(spec: JsonRecord): string {
  return Object.keys(asRecord(spec["Mode"]))[0] ?? "Replicated";
}

function isJob(spec: JsonRecord): boolean {
  return modeName(spec).endsWith("Job");
}

function slotsOf(spec: JsonRecord): number {
  const mode = asRecord(spec["Mode"]);
  if (modeName(spec).startsWith("Global")) return 1;
  if (isJob(spec)) return asNumber(asRecord(mode["ReplicatedJob"])["TotalCompletions"]) ?? 1;
  return asNumber(asRecord(mode["Replicated"])["Replicas"]) ?? 1;
}

/** Tasks that are to be there, of the last run of a job. */
function tasksOf(state: EngineState, service: FakeService): FakeTask[] {
  return state.swarm.tasks.filter((each) =>
    each.serviceId === service.id && each.iteration === service.iteration &&
    (each.desired === "running" || each.desired === "complete")
  );
}

function endTasks(state: EngineState, service: FakeService): void {
  for (const task of state.swarm.tasks.filter(({ serviceId }) => serviceId === service.id)) {
    end(task);
  }
}

function end(task: FakeTask): void {
  task.desired = "shutdown";
  task.becomes.length = 0;
  if (["running", "starting"].includes(task.state)) task.state = "shutdown";
}

/** As many tasks as the service wants. */
function settle(state: EngineState, service: FakeService): void {
  const wanted = slotsOf(service.spec);
  const there = tasksOf(state, service);
  there.filter(({ slot }) => slot > wanted).forEach(end);
  for (let slot = 1; slot <= wanted; slot++) {
    if (!there.some((each) => each.slot === slot)) start(state, service, slot);
  }
}

function start(state: EngineState, service: FakeService, slot: number): void {
  const task: FakeTask = {
    id: state.newId().slice(0, 25),
    serviceId: service.id,
    slot,
    spec: asRecord(service.spec["TaskTemplate"]),
    iteration: service.iteration,
    created: new Date(),
    state: isJob(service.spec) ? "complete" : "running",
    desired: isJob(service.spec) ? "complete" : "running",
    error: "",
    exitCode: 0,
    since: new Date(),
    becomes: [],
  };
  become(task, behaviourOf(state, service));
  state.swarm.tasks.push(task);
}

function become(task: FakeTask, behaviour: Behaviour): void {
  if (behaviour === "run") return;
  if ("refuse" in behaviour) {
    task.state = "rejected";
    task.error = behaviour.refuse;
  } else if ("exit" in behaviour) {
    const { exit, startsForMs, afterMs = 0 } = behaviour;
    const end = exit === 0
      ? { state: "complete", exitCode: 0 }
      : { state: "failed", exitCode: exit, error: `task: non-zero exit (${exit})` };
    if (startsForMs === undefined) {
      Object.assign(task, end);
      return;
    }
    task.state = "starting";
    task.becomes.push({ afterMs: startsForMs, change: { state: "running" } });
    task.becomes.push({ afterMs, change: end });
  } else if (!("health" in behaviour)) {
    return;
  } else if (behaviour.health === "starting") {
    task.state = "starting";
  } else if (behaviour.health === "unhealthy") {
    task.state = "failed";
    task.exitCode = 137;
    task.error = "task: non-zero exit (137): dockerexec: unhealthy container";
  }
}

/** What a task has become by now. */
function age(task: FakeTask): void {
  for (let [next] = task.becomes; next !== undefined; [next] = task.becomes) {
    const since = new Date(task.since.getTime() + next.afterMs);
    if (since > new Date()) return;
    Object.assign(task, next.change, { since });
    task.becomes.shift();
  }
}

function behaviourOf(state: EngineState, { spec }: FakeService): Behaviour {
  const name = asText(spec["Name"]);
  const container = asRecord(asRecord(spec["TaskTemplate"])["ContainerSpec"]);
  const image = shortReference(asText(container["Image"]).split("@")[0] ?? "");
  const exits = asTextList(container["Args"]).map((each) => /(?:^|; )exit (\d+)$/.exec(each)?.[1])
    .find((code) => code !== undefined);
  if (exits !== undefined) return { exit: Number(exits) };
  return state.behaviours.get(name) ?? state.behaviours.get(name.replace(/^[^_]*_/, "")) ??
    state.behaviours.get(image) ?? "run";
}

/** The restart policy: what ended is followed by another one. */
function followFailed(state: EngineState, service: FakeService): void {
  const policy = asRecord(asRecord(service.spec["TaskTemplate"])["RestartPolicy"]);
  const condition = asText(policy["Condition"]) || "any";
  for (const task of tasksOf(state, service)) {
    const hasEnded = ["failed", "rejected", "complete"].includes(task.state);
    const restarts = condition === "any" && !isJob(service.spec) ||
      condition !== "none" && task.state !== "complete";
    if (!hasEnded || !restarts) continue;
    task.desired = "shutdown";
    start(state, service, task.slot);
    const ended = state.swarm.tasks.filter((each) =>
      each.serviceId === service.id && each.slot === task.slot && each.desired === "shutdown"
    );
    const forgotten = new Set(ended.slice(0, -REMEMBERED));
    state.swarm.tasks = state.swarm.tasks.filter((each) => !forgotten.has(each));
  }
}

function listObjects(request: RouteRequest): RouteAnswer {
  const filters = filtersOf(request, ["label", "name"]);
  const objects = [...mapOf(request).values()];
  const found = objects.filter(({ spec }) =>
    matchesLabels(asTexts(spec["Labels"]), filters) &&
    matchesAny(filters, "name", (name) => asText(spec["Name"]).startsWith(name))
  );
  return {
    status: 200,
    json: found.map(({ id, version, spec }) => ({
      ID: id,
      Version: { Index: version },
      // What a secret holds nobody is told.
      Spec: request.params[0] === "configs" ? spec : { ...spec, Data: undefined },
    })),
  };
}

function createObject(request: RouteRequest): RouteAnswer {
  const { state, params, body } = request;
  const objects = mapOf(request);
  const name = asText(body["Name"]);
  const word = params[0] === "configs" ? "config" : "secret";
  if ([...objects.values()].some(({ spec }) => spec["Name"] === name)) {
    throw new Refusal(409, `rpc error: code = AlreadyExists desc = ${word} ${name} already exists`);
  }
  if (asText(body["Data"]) === "") throw new Refusal(400, `${word} data must be larger than 0`);
  if (name.length > 64) throw new Refusal(400, `invalid name: longer than 64 characters`);
  const id = state.newId().slice(0, 25);
  objects.set(id, { id, spec: body, version: state.swarm.nextVersion() });
  return { status: 201, json: { ID: id } };
}

function removeObject(request: RouteRequest): RouteAnswer {
  const { state, params } = request;
  const [kind, id = ""] = params;
  const objects = mapOf(request);
  if (!objects.has(id)) throw new Refusal(404, `${kind} ${id} not found`);
  const user = [...state.swarm.services.values()].find(({ spec }) =>
    JSON.stringify(spec["TaskTemplate"]).includes(`"${id}"`)
  );
  if (user !== undefined) {
    const name = asText(objects.get(id)?.spec["Name"]);
    throw new Refusal(
      400,
      `rpc error: code = InvalidArgument desc = ${kind?.slice(0, -1)} '${name}' is in use by the ` +
        `following service: ${asText(user.spec["Name"])}`,
    );
  }
  objects.delete(id);
  return { status: 204 };
}

function mapOf({ state, params }: RouteRequest): Map<string, FakeObject> {
  return params[0] === "configs" ? state.swarm.configs : state.swarm.secrets;
}

function distribution({ state, params }: RouteRequest): RouteAnswer {
  const image = state.registry.get(shortReference(params[0] ?? ""));
  if (image === undefined) throw new Refusal(404, "manifest unknown: manifest unknown");
  return {
    status: 200,
    json: { Descriptor: { digest: manifestDigest(image) }, Platforms: [] },
  };
}
