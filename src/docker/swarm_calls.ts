import { isStackwrightError, messageOf } from "../model/mod.ts";
import type { EntryReading } from "./answer.ts";
import { type EngineApi, pathName } from "./api.ts";
import { everybodys, labelFilters, sharingLists } from "./filters.ts";
import { asList, asNumber, asRecord, asText, asTime, type JsonRecord } from "./json.ts";
import { LOG_LIMIT_MS, logQuery, readLog } from "./logs.ts";
import { members, short, USED_LABELS } from "./kept_parts.ts";
import { NETWORKS } from "./resources.ts";
import { asLabels, asName, asShown, LONGEST_ID, whoseLabels } from "./told.ts";
import type {
  Distribution,
  ObjectKind,
  ServiceMode,
  ServicePort,
  Swarm,
  SwarmObject,
  SwarmService,
  SwarmTask,
} from "./swarm.ts";

/** The calls of a swarm through a manager's API. */
export function swarmCalls(api: EngineApi): Swarm {
  const networks = sharingLists((_, signal) => {
    const query = { filters: { scope: ["swarm"] } };
    const shape = { ...NETWORKS, ...everybodys({}, (network) => network["Labels"]) };
    return api.list({ ...get("/networks"), query }, shape, signal);
  });
  return {
    services: sharingLists((labels, signal) => {
      const shape = Object.keys(labels).length === 0 ? SERVICES_IN_SHORT : SERVICES;
      return api.list({ ...get("/services"), query: labelFilters(labels) }, shape, signal);
    }),
    everyService: (of, signal) => {
      const shape = { ...SERVICES_IN_SHORT, isWhole: true };
      const reading = { ...shape, of: (entry: JsonRecord) => of(serviceOf(entry)) };
      return api.list(get("/services"), reading, signal);
    },
    namedServices: (names, signal) =>
      named(api, "services", { ...SERVICES_IN_SHORT, names }, signal),
    tasks: sharingLists((labels, signal) =>
      api.list({ ...get("/tasks"), query: labelFilters(labels) }, TASKS, signal)
    ),
    service: async (id, signal) => {
      const answer = await api.find(`/services/${pathName(id)}`, signal);
      return answer && serviceOf(answer);
    },
    tasksOf: async (id, signal) => {
      const query = { filters: { service: [id] } };
      return await api.list({ ...get("/tasks"), query, accept: [404] }, TASKS, signal);
    },
    createService: async ({ body, auth }, signal) => {
      const request = { method: "POST", path: "/services/create", json: body } as const;
      const answer = await api.json({ ...request, headers: authHeader(auth) }, signal);
      const { ID, Id } = asRecord(answer);
      return asName(ID, LONGEST_ID) || asName(Id, LONGEST_ID);
    },
    updateService: async ({ id, version }, { body, auth }, signal) => {
      const request = { method: "POST", path: `/services/${pathName(id)}/update` } as const;
      // Without credentials the engine keeps the earlier ones.
      const change = { query: { version }, json: body, headers: authHeader(auth) };
      await api.send({ ...request, ...change }, signal);
    },
    serviceLogs: (id, lines, signal) => serviceLogs(api, { id, lines }, signal),
    removeService: (id, signal) => api.remove(`/services/${pathName(id)}`, signal),
    objects: async (kind, labels, signal) =>
      await api.list({ ...get(`/${kind}`), query: labelFilters(labels) }, OBJECTS, signal),
    namedObjects: (kind, names, signal) => named(api, kind, { ...OBJECTS, names }, signal),
    createObject: async (kind, body, signal) => {
      const request = { method: "POST", path: `/${kind}/create`, json: body } as const;
      return asName(asRecord(await api.json(request, signal))["ID"], LONGEST_ID);
    },
    removeObject: (kind, id, signal) => removeObject(api, kind, id, signal),
    networks: (signal) => networks({}, signal),
    distribution: (image, auth, signal) => distribution(api, image, auth, signal),
  };
}

function get(path: string) {
  return { method: "GET", path } as const;
}

/** Credentials with which nodes fetch the image; without them its tasks are "rejected". */
function authHeader(auth: string): Readonly<Record<string, string>> {
  return auth === "" ? {} : { "X-Registry-Auth": auth };
}

async function serviceLogs(
  api: EngineApi,
  { id, lines }: { readonly id: string; readonly lines: number },
  signal: AbortSignal,
): Promise<string[]> {
  const path = `/services/${pathName(id)}`;
  const request = { ...get(`${path}/logs`), limitMs: LOG_LIMIT_MS };
  return await api.turns.inLogTime(request, signal, async (within, ofWhom) => {
    const { spec, labels } = serviceOf(asRecord(await api.json(get(path), within)));
    const isTerminal = asRecord(asRecord(spec["TaskTemplate"])["ContainerSpec"])["TTY"] === true;
    return await ofWhom(whoseLabels(labels), async () => {
      const query = logQuery(lines, { isTerminal });
      const response = await api.call({ ...request, query }, within);
      return await readLog(response, { isTerminal, lines, clock: api.clock }, within);
    });
  });
}

async function removeObject(api: EngineApi, kind: ObjectKind, id: string, signal: AbortSignal) {
  await api.remove(`/${kind}/${pathName(id)}`, signal).catch((error) => {
    if (!messageOf(error).includes("is in use by the following service")) throw error;
  });
}

async function distribution(
  api: EngineApi,
  image: string,
  auth: string,
  signal: AbortSignal,
): Promise<Distribution> {
  const path = `/distribution/${pathName(image)}/json`;
  try {
    const answer = await api.json({ ...get(path), headers: authHeader(auth) }, signal);
    const digest = asText(asRecord(asRecord(answer)["Descriptor"])["digest"]);
    return DIGEST.test(digest)
      ? { kind: "found", digest }
      : { kind: "unknown", why: "the engine told no digest" };
  } catch (error) {
    if (!isStackwrightError(error, "engine_refused")) throw error;
    const why = error.message;
    return { kind: REFUSED.test(why) ? "refused" : "unknown", why };
  }
}

/** A digest, which becomes a part of an image's name: other text would name another image. */
const DIGEST = /^[a-z0-9]{2,20}:[0-9a-f]{32,256}$/;

/** Engines answer 500 for nearly every refusal of a registry, so only its words tell. */
const REFUSED = new RegExp(
  [": 40[134] ", "no basic auth credentials", "denied", "unauthorized", "manifest unknown"]
    .join("|"),
  "i",
);

/** A service from the engine's JSON. */
export function serviceOf(service: JsonRecord): SwarmService {
  const spec = asRecord(service["Spec"]);
  return {
    id: asName(service["ID"], LONGEST_ID),
    version: versionOf(service),
    name: asName(spec["Name"]),
    createdAt: asTime(service["CreatedAt"]),
    updatedAt: asTime(service["UpdatedAt"]),
    labels: asLabels(spec["Labels"]),
    spec,
    ...(service["PreviousSpec"] === undefined
      ? {}
      : { previousSpec: asRecord(service["PreviousSpec"]) }),
    mode: modeOf(asRecord(spec["Mode"])),
    ports: portsOf(asRecord(service["Endpoint"])),
    ...updateOf(asRecord(service["UpdateStatus"])),
    iteration: iterationOf(asRecord(service["JobStatus"])),
  };
}

function updateOf(update: JsonRecord): Pick<SwarmService, "update"> {
  const state = asName(update["State"], LONGEST_ID);
  if (state === "") return {};
  const { StartedAt: at } = update;
  const began = at === undefined ? {} : { startedAt: asName(at, LONGEST_ID) };
  return { update: { state, message: asShown(update["Message"]), ...began } };
}

function portsOf(endpoint: JsonRecord): ServicePort[] {
  return asList(endpoint["Ports"]).map(asRecord).map((port) => ({
    targetPort: asNumber(port["TargetPort"]) ?? 0,
    publishedPort: asNumber(port["PublishedPort"]) ?? 0,
    protocol: asName(port["Protocol"]),
    mode: asName(port["PublishMode"]),
  }));
}

function modeOf(mode: JsonRecord): ServiceMode {
  if (mode["Global"] !== undefined) return { kind: "global" };
  if (mode["GlobalJob"] !== undefined) return { kind: "global-job" };
  if (mode["ReplicatedJob"] !== undefined) {
    const job = asRecord(mode["ReplicatedJob"]);
    const concurrent = asNumber(job["MaxConcurrent"]) ?? 1;
    return { kind: "replicated-job", completions: asNumber(job["TotalCompletions"]) ?? concurrent };
  }
  const replicas = asNumber(asRecord(mode["Replicated"])["Replicas"]) ?? 1;
  return { kind: "replicated", replicas };
}

/** A task from the engine's JSON. */
export function taskOf(task: JsonRecord): SwarmTask {
  const status = asRecord(task["Status"]);
  const state = asName(status["State"]);
  const ended = asRecord(status["ContainerStatus"])["ExitCode"];
  return {
    id: asName(task["ID"], LONGEST_ID),
    serviceId: asName(task["ServiceID"], LONGEST_ID),
    slot: asNumber(task["Slot"]) ?? 0,
    nodeId: asName(task["NodeID"], LONGEST_ID),
    createdAt: asTime(task["CreatedAt"]),
    state,
    stateSince: asTime(status["Timestamp"]),
    desired: asName(task["DesiredState"]),
    error: asShown(status["Err"]),
    exitCode: state === "running" ? undefined : asNumber(ended),
    spec: asRecord(task["Spec"]),
    iteration: iterationOf(task),
  };
}

function iterationOf(holder: JsonRecord): number {
  return asNumber(asRecord(holder["JobIteration"])["Index"]) ?? 0;
}

function objectOf(object: JsonRecord): SwarmObject {
  const spec = asRecord(object["Spec"]);
  const data = asText(spec["Data"]);
  return {
    id: asName(object["ID"], LONGEST_ID),
    name: asName(spec["Name"]),
    version: versionOf(object),
    labels: asLabels(spec["Labels"]),
    ...(data === "" ? {} : { data }),
  };
}

function versionOf(object: JsonRecord): number {
  return asNumber(asRecord(object["Version"])["Index"]) ?? 0;
}

/** What has one of these names, all of it: a swarm also finds others that begin so. */
async function named<T>(
  api: EngineApi,
  kind: "services" | ObjectKind,
  { keep, of, names }: EntryReading<T> & { readonly names: readonly string[] },
  signal: AbortSignal,
): Promise<T[]> {
  const wanted = new Set(names);
  const isWanted = (entry: JsonRecord) => wanted.has(asText(asRecord(entry["Spec"])["Name"]));
  const ofWanted = (entry: JsonRecord) => isWanted(entry) ? of(entry) : undefined;
  const request = { ...get(`/${kind}`), query: { filters: { name: names } } };
  return await api.list(request, { keep, isWhole: true, of: ofWanted }, signal);
}

const OF_SERVICES = {
  ...short("ID", "CreatedAt", "UpdatedAt"),
  Version: "whole",
  Endpoint: members({
    Ports: members(short("TargetPort", "PublishedPort", "Protocol", "PublishMode")),
  }),
  UpdateStatus: "whole",
  JobStatus: "whole",
} as const;
/** What a rollback by the swarm would use again; specs are as long as what their authors wrote. */
const BEFORE = members({
  TaskTemplate: members({
    ContainerSpec: members({
      Configs: members(short("ConfigID")),
      Secrets: members(short("SecretID")),
    }),
  }),
});
const SERVICES = {
  keep: members({ ...OF_SERVICES, Spec: "whole", PreviousSpec: BEFORE }),
  isWhole: true,
  of: serviceOf,
};
const MOUNTS = members({
  ...short("Type", "Source"),
  VolumeOptions: members({ Labels: USED_LABELS }),
});
const CONTAINER = members({ Image: "short", Labels: USED_LABELS, Mounts: MOUNTS });
const SERVICES_IN_SHORT = {
  keep: members({
    ...OF_SERVICES,
    Spec: members({
      Name: "short",
      Labels: USED_LABELS,
      Mode: "whole",
      TaskTemplate: members({ ContainerSpec: CONTAINER }),
    }),
  }),
  of: serviceOf,
  ...everybodys({}, (service) => asRecord(service["Spec"])["Labels"]),
};
const TASKS = {
  keep: members({
    ...short("ID", "ServiceID", "Slot", "NodeID", "CreatedAt", "DesiredState"),
    Status: "whole",
    Spec: "whole",
    JobIteration: "whole",
  }),
  isWhole: true,
  of: taskOf,
};
const OF_OBJECTS = { Name: "short", Labels: USED_LABELS } as const;
const OBJECTS = {
  keep: members({ ID: "short", Version: "whole", Spec: members({ ...OF_OBJECTS, Data: "whole" }) }),
  isWhole: true,
  of: objectOf,
};
