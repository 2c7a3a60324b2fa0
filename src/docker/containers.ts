import { COMPOSE_LABELS, messageOf, type ObservedContainer } from "../model/mod.ts";
import { type EngineApi, pathName } from "./api.ts";
import type { ApiRequest } from "./api_request.ts";
import type { ContainerDetails, LabelFilter } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asList, asNumber, asRecord, type JsonRecord } from "./json.ts";
import { collectLines, demultiplex, singleStream } from "./logs.ts";
import type { TransportResponse } from "./transport_messages.ts";
import { observedContainer } from "./observed_container.ts";
import { detailed } from "./container_details.ts";

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

/** Bytes of the list of all containers; nothing of it is kept. */
export async function listedBytes(api: EngineApi, signal: AbortSignal): Promise<number> {
  const request = { method: "GET", path: "/containers/json", query: { all: true } } as const;
  return await api.inTime(request, signal, async (within) => {
    const response = await api.call(request, within);
    let length = 0;
    for await (const chunk of response.body) length += chunk.length;
    return length;
  });
}

/** Whether `compose run` or a job made this container; such ones are no part of a stack. */
export function isOneOff(container: ObservedContainer): boolean {
  return container.labels[COMPOSE_LABELS.oneOff]?.toLowerCase() === "true";
}

/** On every container that a swarm made. */
const SWARM_TASK = "com.docker.swarm.service.id";

/**
 * Whether a swarm made this container: it is of a service, and of no project of compose, whatever the
 * labels say that it has from its image.
 */
export function isSwarmTask({ labels }: Pick<ObservedContainer, "labels">): boolean {
  return labels[SWARM_TASK] !== undefined;
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
