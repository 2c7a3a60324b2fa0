import { type ApiOptions, EngineApi, pathName } from "./api.ts";
import { CALL_LIMIT_MS } from "./call_turns.ts";
import { containerMounts } from "./container_mounts.ts";
import { type ContainerSummary, describeContainers } from "./container_summary.ts";
import { LONGEST_GRACE_SECONDS } from "./container_details.ts";
import { containerRecipe } from "./container_recipe.ts";
import { containerCalls } from "./containers.ts";
import { creatingCalls } from "./create.ts";
import {
  describeEndpoint,
  type EngineEndpoint,
  type EngineEnvironment,
  parseEndpoint,
} from "./endpoint.ts";
import { engineInfo } from "./engine_info.ts";
import type { Engine, LabelFilter } from "./engine.ts";
import { containerEvents } from "./events.ts";
import { fileHas } from "./file_text.ts";
import { sharingLists } from "./filters.ts";
import { imageCalls } from "./images.ts";
import { resourceCalls } from "./resources.ts";
import { swarmCalls } from "./swarm_calls.ts";
import { SshForward } from "./ssh_forward.ts";
import { createTransport, type TransportOptions } from "./transport.ts";
import { asNumber, asRecord } from "./json.ts";

interface EngineOptions
  extends
    Omit<TransportOptions, "forward">,
    Pick<ApiOptions, "onMutation" | "onLeftOut" | "clock"> {
  /** Address; by default `DOCKER_HOST` in {@link EngineOptions.env}, else the default socket. */
  readonly host?: string;
  /** Parsed address; wins over `host`. */
  readonly endpoint?: EngineEndpoint;
  /**
   * Source of `DOCKER_HOST`, `DOCKER_TLS_VERIFY`, `DOCKER_CERT_PATH`, `DOCKER_CONFIG`, `HOME`,
   * `DOCKER_API_VERSION`, and of the variables for SSH; no other environment is read.
   */
  readonly env?: EngineEnvironment;
}

/** The engine with calls that only some callers need. */
export interface EngineClient extends Engine {
  /** The engine's address for people. */
  readonly description: string;
  /** Variables by which the engine's own programs reach it; opens a forward for SSH. */
  programVariables(): Promise<EngineEnvironment>;
  /** Untyped calls of the API. */
  readonly api: EngineApi;
  /** As `listContainers`, with all fields of a list for people. */
  describeContainers(labels: LabelFilter, signal: AbortSignal): Promise<ContainerSummary[]>;
  /** As {@link fileHas}. */
  fileHas(
    id: string,
    file: { readonly path: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Waits until a container has stopped, and returns its exit code. */
  waitContainer(id: string, signal: AbortSignal): Promise<number>;
}

/**
 * Makes a client of one engine. Connects with the first call.
 *
 * Throws `settings_invalid` for an unusable address.
 */
export function createEngine(options: EngineOptions = {}): EngineClient {
  const env = options.env ?? {};
  const endpoint = options.endpoint ??
    parseEndpoint(options.host ?? env["DOCKER_HOST"] ?? "", env);
  const forward = endpoint.kind === "ssh" ? new SshForward(endpoint, env) : undefined;
  const way = forward === undefined ? options : { ...options, forward };
  const transport = createTransport(endpoint, way);
  const api = new EngineApi(transport, {
    apiVersion: env["DOCKER_API_VERSION"] ?? "",
    ...(options.onMutation === undefined ? {} : { onMutation: options.onMutation }),
    ...(options.onLeftOut === undefined ? {} : { onLeftOut: options.onLeftOut }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  return {
    description: transport.description,
    programVariables: () => programVariables(endpoint, forward),
    api,
    ...containerCalls(api),
    ...actingCalls(api),
    ...creatingCalls(api),
    ...imageCalls(api),
    ...resourceCalls(api),
    ...engineCalls(api),
    close() {
      api.close();
      forward?.close();
    },
  };
}

async function programVariables(
  endpoint: EngineEndpoint,
  forward: SshForward | undefined,
): Promise<EngineEnvironment> {
  const none = { DOCKER_TLS_VERIFY: undefined, DOCKER_CERT_PATH: undefined };
  if (forward !== undefined) return { ...none, DOCKER_HOST: `unix://${await forward.open()}` };
  const { tls, ...plain } = endpoint.kind === "tcp" ? endpoint : { ...endpoint, tls: undefined };
  const DOCKER_HOST = describeEndpoint(plain);
  if (tls === undefined) return { ...none, DOCKER_HOST };
  return { DOCKER_HOST, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: tls.certificates };
}

function actingCalls(api: EngineApi) {
  const mounts = sharingLists((_, signal) => containerMounts(api, signal));
  return {
    describeContainers: sharingLists((labels, signal) => describeContainers(api, labels, signal)),
    containerMounts: (signal) => mounts({}, signal),
    containerRecipe: (id, signal) => containerRecipe(api, id, signal),
    fileHas: (id, file, signal) => fileHas(api, id, file, signal),
    startContainer: (id, signal) => act(api, { id, verb: "start" }, signal),
    stopContainer: (id, waits, signal) =>
      act(api, { id, verb: "stop", query: { t: waits }, waits }, signal),
    renameContainer: (id, name, signal) =>
      act(api, { id, verb: "rename", query: { name } }, signal),
    setRestartPolicy: (id, RestartPolicy, signal) =>
      act(api, { id, verb: "update", json: { RestartPolicy } }, signal),
    unpauseContainer: (id, signal) => act(api, { id, verb: "unpause" }, signal),
    killContainer: (id, name, signal) =>
      act(api, { id, verb: "kill", query: { signal: name } }, signal),
    restartContainer: (id, { timeoutSeconds: waits, signalName }, signal) =>
      act(api, { id, verb: "restart", query: { t: waits, signal: signalName }, waits }, signal),
    waitContainer: async (id, signal) => {
      const path = `/containers/${pathName(id)}/wait`;
      const query = { condition: "not-running" };
      const answer = await api.json({ method: "POST", path, query, limitMs: Infinity }, signal);
      return asNumber(asRecord(answer)["StatusCode"]) ?? -1;
    },
    containerEvents: (options, signal) => containerEvents(api, options, signal),
  } satisfies Partial<EngineClient>;
}

function engineCalls(api: EngineApi) {
  return {
    info: (signal) => engineInfo(api, signal),
    apiVersion: async (signal) => (await api.version(signal)).apiVersion,
    swarm: swarmCalls(api),
    close: () => api.close(),
  } satisfies Partial<EngineClient>;
}

async function act(
  api: EngineApi,
  action: {
    readonly id: string;
    readonly verb: string;
    readonly query?: Readonly<Record<string, string | number | undefined>>;
    readonly json?: unknown;
    /** Seconds that the engine waits; `undefined` for the container's own grace period. */
    readonly waits?: number | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const path = `/containers/${pathName(action.id)}/${action.verb}`;
  const { query = {}, json } = action;
  const waits = "waits" in action ? action.waits ?? LONGEST_GRACE_SECONDS : 0;
  const limitMs = CALL_LIMIT_MS + waits * 1000;
  await api.send({ method: "POST", path, query, json, limitMs, actsOn: action.id }, signal);
}
