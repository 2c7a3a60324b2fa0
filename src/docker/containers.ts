import {
  COMPOSE_LABELS,
  type ContainerHealth,
  type ContainerState,
  type HostPort,
  messageOf,
  type ObservedContainer,
} from "../model/mod.ts";
import { type ApiRequest, type EngineApi, pathName } from "./api.ts";
import type { ContainerDetails, ContainerEndpoint, ContainerMount, LabelFilter } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import {
  asList,
  asNumber,
  asRecord,
  asText,
  asTextList,
  asTexts,
  type Json,
  type JsonRecord,
} from "./json.ts";
import { collectLines, demultiplex, singleStream } from "./logs.ts";
import { parseContainerStatus } from "./status.ts";
import type { TransportResponse } from "./transport_messages.ts";

/** The engine's own, of a container that says nothing. */
const DEFAULT_GRACE_SECONDS = 10;

/** Containers in any state that carry all `labels`, by one call. */
export async function listContainers(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  const query = { all: true, ...labelFilters(labels) };
  const list = await api.json({ method: "GET", path: "/containers/json", query }, signal);
  return asList(list).map((entry) => observedContainer(asRecord(entry)));
}

/** Whether `compose run` or a job made this container; such ones are no part of a stack. */
export function isOneOff(container: ObservedContainer): boolean {
  return container.labels[COMPOSE_LABELS.oneOff]?.toLowerCase() === "true";
}

/** One container, or `undefined`. */
export async function inspectContainer(
  api: EngineApi,
  id: string,
  signal: AbortSignal,
): Promise<ContainerDetails | undefined> {
  const answer = await inspect(api, id, signal);
  return answer === undefined ? undefined : detailed(answer);
}

/** The last `lines` lines of a container's output. */
export async function containerLogs(
  api: EngineApi,
  target: { readonly id: string; readonly lines: number },
  signal: AbortSignal,
): Promise<string[]> {
  const request: ApiRequest = {
    method: "GET",
    path: `/containers/${pathName(target.id)}/logs`,
    query: { stdout: true, stderr: true, tail: target.lines },
  };
  return await api.inTime(request, signal, async (within) => {
    const response = await api.call(request, within);
    const framed = await isFramed(api, target.id, response, within);
    return await collectLines(framed ? demultiplex(response.body) : singleStream(response.body));
  });
}

/** Waits for a container and returns its exit code; `condition` as the Engine API names it. */
export async function waitContainer(
  api: EngineApi,
  target: { readonly id: string; readonly condition: "not-running" | "next-exit" | "removed" },
  signal: AbortSignal,
): Promise<number> {
  const answer = await api.json({
    method: "POST",
    path: `/containers/${pathName(target.id)}/wait`,
    query: { condition: target.condition },
    limitMs: Infinity,
  }, signal);
  return asNumber(asRecord(answer)["StatusCode"]) ?? -1;
}

/**
 * Removes a container; one that is gone is fine, and one that somebody else is removing is waited for:
 * its name and ports are free when this returns.
 */
export async function removeContainer(
  api: EngineApi,
  { id, force, volumes }: {
    readonly id: string;
    readonly force: boolean;
    readonly volumes: boolean;
  },
  signal: AbortSignal,
): Promise<void> {
  const path = `/containers/${pathName(id)}`;
  const remove = async () => {
    const query = { force, v: volumes };
    await api.send({ method: "DELETE", path, query, accept: [404] }, signal);
  };
  try {
    await remove();
  } catch (error) {
    if (!/\bremoval of container \S+ is already in progress/.test(messageOf(error))) throw error;
    const query = { condition: "removed" };
    await api.send({ method: "POST", path: `${path}/wait`, query, accept: [404] }, signal);
    // That one may have failed.
    await remove();
  }
}

/**
 * Newer engines name the framing in the content type; older ones say "raw" for both kinds, and the
 * container has to be asked whether it has a terminal.
 */
async function isFramed(
  api: EngineApi,
  id: string,
  response: TransportResponse,
  signal: AbortSignal,
): Promise<boolean> {
  if (response.headers["content-type"]?.includes("multiplexed")) return true;
  const answer = await inspect(api, id, signal);
  return asRecord(answer?.["Config"])["Tty"] !== true;
}

async function inspect(
  api: EngineApi,
  id: string,
  signal: AbortSignal,
): Promise<JsonRecord | undefined> {
  const path = `/containers/${pathName(id)}/json`;
  const answer = await api.json({ method: "GET", path, accept: [404] }, signal);
  return answer === undefined ? undefined : asRecord(answer);
}

/** An entry of the engine's list of containers. */
export function observedContainer(entry: JsonRecord): ObservedContainer {
  const labels = asTexts(entry["Labels"]);
  return {
    id: asText(entry["Id"]),
    name: nameOf(asTextList(entry["Names"])),
    service: labels[COMPOSE_LABELS.service] ?? "",
    ...parseContainerStatus(asText(entry["State"]), asText(entry["Status"])),
    imageId: asText(entry["ImageID"]),
    labels,
    hostPorts: asList(entry["Ports"]).map(asRecord).flatMap((port) => {
      const published = asNumber(port["PublicPort"]);
      if (published === undefined) return [];
      return [{ address: asText(port["IP"]), port: published, protocol: asText(port["Type"]) }];
    }),
    ...networksOf(entry),
  };
}

/** A container that was never started has no ids of networks yet. */
function networksOf(
  answer: JsonRecord,
): Required<Pick<ObservedContainer, "networkIds" | "networkNames">> {
  const networks = asRecord(asRecord(answer["NetworkSettings"])["Networks"]);
  const ids = Object.values(networks).map((each) => asText(asRecord(each)["NetworkID"]));
  return { networkIds: ids.filter((id) => id !== ""), networkNames: Object.keys(networks).sort() };
}

/** Names of legacy links contain a second slash; the own one does not. */
function nameOf(names: readonly string[]): string {
  const own = names.find((name) => !name.slice(1).includes("/")) ?? names[0] ?? "";
  return own.replace(/^\//, "");
}

/** The host's side of `{"80/tcp": [{HostIp, HostPort}]}`. */
function boundPorts(ports: JsonRecord): HostPort[] {
  return Object.entries(ports).flatMap(([key, places]) =>
    asList(places).map(asRecord).map((place) => ({
      address: asText(place["HostIp"]),
      port: Number(asText(place["HostPort"])),
      protocol: key.split("/")[1] ?? "tcp",
    }))
  );
}

function detailed(answer: JsonRecord): ContainerDetails {
  const state = asRecord(answer["State"]);
  const health = asRecord(state["Health"]);
  const labels = asTexts(asRecord(answer["Config"])["Labels"]);
  const host = asRecord(answer["HostConfig"]);
  return {
    container: {
      id: asText(answer["Id"]),
      name: asText(answer["Name"]).replace(/^\//, ""),
      service: labels[COMPOSE_LABELS.service] ?? "",
      ...inspectedStatus(asText(state["Status"]), asText(health["Status"])),
      exitCode: exitCodeOf(state),
      imageId: asText(answer["Image"]),
      labels,
      hostPorts: boundPorts(asRecord(asRecord(answer["NetworkSettings"])["Ports"])),
      ...networksOf(answer),
    },
    restartPolicy: asText(asRecord(host["RestartPolicy"])["Name"]),
    startedAt: instant(asText(state["StartedAt"])),
    restartCount: asNumber(answer["RestartCount"]) ?? 0,
    stopTimeoutSeconds: asNumber(asRecord(answer["Config"])["StopTimeout"]) ??
      DEFAULT_GRACE_SECONDS,
    error: asText(state["Error"]),
    healthOutput: asText(asRecord(asList(health["Log"]).at(-1))["Output"]),
    ...lastCheckOf(asList(health["Log"]).at(-1)),
    mounts: asList(answer["Mounts"]).map((each) => mountOf(asRecord(each))),
    endpoints: endpointsOf(answer),
    host,
  };
}

function endpointsOf(answer: JsonRecord): Record<string, ContainerEndpoint> {
  const networks = asRecord(asRecord(answer["NetworkSettings"])["Networks"]);
  return Object.fromEntries(
    Object.entries(networks).map(([name, each]) => {
      const endpoint = asRecord(each);
      const [ipv4, ipv6] = [endpoint["IPAddress"], endpoint["GlobalIPv6Address"]].map(asText);
      const aliases = asTextList(endpoint["Aliases"]);
      return [name, { ipv4: ipv4 ?? "", ipv6: ipv6 ?? "", aliases }];
    }),
  );
}

function lastCheckOf(entry: Json | undefined): Pick<ContainerDetails, "lastCheck"> {
  const check = asRecord(entry);
  const beganAt = instant(asText(check["Start"]));
  return beganAt === undefined ? {} : { lastCheck: { beganAt, passed: check["ExitCode"] === 0 } };
}

function mountOf(mount: JsonRecord): ContainerMount {
  const type = asText(mount["Type"]);
  return {
    kind: type === "bind" || type === "volume" ? type : "other",
    name: asText(mount["Name"]),
    source: asText(mount["Source"]),
    destination: asText(mount["Destination"]),
    writable: mount["RW"] !== false,
  };
}

function inspectedStatus(
  status: string,
  health: string,
): { state: ContainerState; health: ContainerHealth } {
  const { state } = parseContainerStatus(status, "");
  // The engine keeps the last health of a container that stopped; it says nothing about now.
  const known = state === "running" || state === "paused"
    ? (["starting", "healthy", "unhealthy"] as const).find((each) => each === health)
    : undefined;
  return { state, health: known ?? "none" };
}

function exitCodeOf(state: JsonRecord): number | undefined {
  const status = asText(state["Status"]);
  return status === "exited" || status === "restarting" || status === "dead"
    ? asNumber(state["ExitCode"])
    : undefined;
}

/** The engine writes year 1 for "never". */
function instant(text: string): Date | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() <= 1 ? undefined : date;
}
