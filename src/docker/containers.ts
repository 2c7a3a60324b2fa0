import { COMPOSE_LABELS, messageOf, type ObservedContainer, SWARM_TASK } from "../model/mod.ts";
import { unhurried } from "./answer.ts";
import { type EngineApi, pathName } from "./api.ts";
import type { ApiRequest } from "./api_request.ts";
import type { ContainerDetails, LabelFilter } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asNumber, asRecord, asText, type JsonRecord } from "./json.ts";
import { readLog } from "./logs.ts";
import type { TransportResponse } from "./transport_messages.ts";
import { OBSERVED, observedContainer } from "./observed_container.ts";
import { detailed } from "./container_details.ts";

/** Containers in any state that carry all `labels`, by one call. */
export async function listContainers(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<ObservedContainer[]> {
  const shape = { keep: OBSERVED, of: observedContainer };
  return await api.list({ ...LIST, query: { all: true, ...labelFilters(labels) } }, shape, signal);
}

const LIST = { method: "GET", path: "/containers/json" } as const;

/** Content ids of the images of all containers, in any state. */
export async function imagesInUse(
  api: EngineApi,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const shape = { keep: ["ImageID"], of: (entry: JsonRecord) => asText(entry["ImageID"]) };
  return new Set(await api.list({ ...LIST, query: { all: true } }, shape, signal));
}

/** Bytes of a list that are counted: nobody reads a longer one. */
const MOST_COUNTED = 256 << 20;

/** Bytes of the list of all containers, as far as they are counted; nothing of it is kept. */
export async function listedBytes(api: EngineApi, signal: AbortSignal): Promise<number> {
  const request = { ...LIST, query: { all: true } };
  return await api.inTime(request, signal, async (within) => {
    const response = await api.call(request, within);
    let length = 0;
    for await (const chunk of unhurried(response, api.clock, within)) {
      length += chunk.length;
      if (length > MOST_COUNTED) break;
    }
    return length;
  });
}

/** Whether `compose run` or a job made this container; such ones are no part of a stack. */
export function isOneOff(container: ObservedContainer): boolean {
  return container.labels[COMPOSE_LABELS.oneOff]?.toLowerCase() === "true";
}

/**
 * Whether a swarm made this container: it is of a service, and of no project of compose, whatever the
 * labels say that it has from its image.
 */
export function isSwarmTask({ labels }: Pick<ObservedContainer, "labels">): boolean {
  return (labels[SWARM_TASK] ?? "") !== "";
}

/** One container, or `undefined`. */
export async function inspectContainer(
  api: EngineApi,
  id: string,
  signal: AbortSignal,
): Promise<ContainerDetails | undefined> {
  const answer = await inspect(api, id, signal);
  return answer && detailed(answer);
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
    const how = { isFramed: await isFramed(api, target.id, response, within), clock: api.clock };
    return await readLog(response, how, within);
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

function inspect(api: EngineApi, id: string, signal: AbortSignal): Promise<JsonRecord | undefined> {
  return api.find(`/containers/${pathName(id)}/json`, signal);
}
