import {
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  serviceOf,
  textAt,
} from "../../compose/model.ts";
import { resourcesOf } from "../../compose/resources.ts";
import type { EndpointBody, HostBody } from "../../docker/create_bodies.ts";
import type { ContainerDetails, ContainerEndpoint } from "../../docker/engine.ts";
import { asNumber, asRecord, asText, type Json, type JsonRecord } from "../../docker/json.ts";
import { type ComposeModel, type Drift, LABELS, SWARM_TASK } from "../../model/mod.ts";
import { endpointsOf } from "./endpoints.ts";
import { restartPolicy } from "./host_body.ts";
import { resourceLimits } from "./resource_limits.ts";

/** A limit that can be changed on an existing container. */
interface Limit {
  /** Its key in compose. */
  readonly field: string;
  /** Its field in the Engine API. */
  readonly name: string;
  /** Formats a value for people. */
  readonly shown?: (value: number) => string;
  /** Keys that are left to compose: with one of them, the wanted value is not known here. */
  readonly unless?: RegExp;
}

/** Everything that `docker update` can change, except for the restart policy. */
const LIMITS: readonly Limit[] = [
  { field: "mem_limit", name: "Memory", shown: bytesText },
  { field: "mem_reservation", name: "MemoryReservation", shown: bytesText },
  { field: "memswap_limit", name: "MemorySwap", shown: bytesText },
  { field: "cpus", name: "NanoCpus", shown: (value) => String(value / 1e9) },
  { field: "cpu_shares", name: "CpuShares" },
  { field: "cpu_period", name: "CpuPeriod" },
  { field: "cpu_quota", name: "CpuQuota" },
  { field: "cpuset", name: "CpusetCpus" },
  { field: "cpuset_mems", name: "CpusetMems" },
  { field: "pids_limit", name: "PidsLimit" },
  { field: "blkio_config.weight", name: "BlkioWeight", unless: /^blkio_config$/ },
  { field: "cpu_rt_period", name: "CpuRealtimePeriod", unless: /^cpu_rt_/ },
  { field: "cpu_rt_runtime", name: "CpuRealtimeRuntime", unless: /^cpu_rt_/ },
];

/**
 * Drift of a container that shows only when it is inspected: in its limits, its restart policy, its
 * aliases and addresses in networks, and missing labels. `model` is rendered, with plain dollars;
 * `number` is the container's number within its service.
 *
 * What the engine made of a request is no drift: an unsupported limit is none, swap follows memory.
 */
export function fieldDrift(
  model: ComposeModel,
  { container, host, endpoints = {} }: ContainerDetails,
  number: number,
): Drift[] {
  const { id, name, service } = container;
  if (host === undefined || !Object.hasOwn(objectAt(model, "services"), service)) return [];
  const definition = serviceOf(model, service);
  const wanted = policyText(restartPolicy(definition).RestartPolicy);
  const found = policyText(host["RestartPolicy"]);
  const ours = new Set<string>([...Object.values(LABELS), SWARM_TASK]);
  const labels = Object.keys(labelsOf(definition))
    .filter((each) => container.labels[each] === undefined && !ours.has(each));
  const places = Object.entries(endpointsOf({ model, service, number, api: NEWEST }));
  return [
    ...changedLimits(definition, host),
    ...(wanted === found ? [] : [{ field: "restart", wanted, found }]),
    ...places.flatMap(([network, each]) => changedPlace(network, each, endpoints[network])),
    ...labels.map((each) => ({ field: `label ${each}`, ...GONE })),
  ].map((change) => ({ service, container: { id, name }, ...change }));
}

type Change = Pick<Drift, "field" | "wanted" | "found">;

const GONE = { wanted: "set", found: "none" };

function changedLimits(definition: JsonObject, host: JsonRecord): Change[] {
  const asked = { ...resourceLimits(definition), ...restartPolicy(definition) };
  const sameShare = tellsShareTwice(asked, host);
  return LIMITS.flatMap((limit) => {
    if (Object.keys(definition).some((key) => limit.unless?.test(key))) return [];
    if (sameShare && PROCESSOR_SHARE.includes(limit.name)) return [];
    const change = changed(limit, asked, host);
    return change === undefined ? [] : [{ field: limit.field, ...change }];
  });
}

/** Aliases and an address that a container lost in a network; none where it is not connected. */
function changedPlace(
  network: string,
  { Aliases, IPAMConfig }: EndpointBody,
  place: ContainerEndpoint | undefined,
): Change[] {
  if (place === undefined) return [];
  const there = new Set(place.aliases);
  const aliases = Aliases.filter((each) => !there.has(each))
    .map((each) => ({ field: `alias ${each} in network ${network}`, ...GONE }));
  const wanted = IPAMConfig?.IPv4Address ?? "";
  const isMoved = wanted !== "" && place.ipv4 !== "" && place.ipv4 !== wanted;
  const field = `ipv4_address in network ${network}`;
  return [...aliases, ...(isMoved ? [{ field, wanted, found: place.ipv4 }] : [])];
}

/** Names of a project's volumes that a service mounts. */
export function mountedVolumes(model: ComposeModel, service: string): string[] {
  const keys = new Set(
    objectsAt(serviceOf(model, service), "volumes").map((each) => textAt(each, "source")),
  );
  return resourcesOf(model, "volumes").filter(({ key }) => keys.has(key)).map(({ name }) => name);
}

/** API version for the comparison: fields that depend on it are not compared. */
const NEWEST = "1.52";

function changed(
  { name, shown = String }: Limit,
  asked: HostBody,
  host: JsonRecord,
): { readonly wanted: string; readonly found: string } | undefined {
  const wanted = asked[name as keyof HostBody] as number | string | undefined;
  const found = host[name];
  if (typeof found === "string") {
    // An engine without cpusets reports an empty text.
    if (found === (wanted ?? "") || found === "") return undefined;
    return { wanted: String(wanted ?? "") || NONE, found };
  }
  const text = (value: number) => value > 0 ? shown(value) : NONE;
  const value = asNumber(found);
  if (value === undefined || value === (Number(wanted ?? 0))) return undefined;
  if (name === "PidsLimit" && value <= 0) {
    return Number(wanted ?? 0) > 0 ? { wanted: text(Number(wanted)), found: NONE } : undefined;
  }
  if (value === 0) return undefined;
  if (name === "MemorySwap" && isDefaultSwap(value, asked, host)) return undefined;
  if (name === "PidsLimit" && wanted === undefined && value === PODMAN_PIDS) return undefined;
  return { wanted: text(Number(wanted ?? 0)), found: text(value) };
}

const NONE = "no limit";

/** The limit of processes that podman sets by default; docker sets none. */
const PODMAN_PIDS = 2048;

/**
 * Whether swap has its default: the engine reports -1 where the kernel does not account for swap,
 * and else twice the memory for a container without a swap limit.
 */
function isDefaultSwap(value: number, asked: HostBody, host: JsonRecord): boolean {
  if (value === -1) return true;
  const memory = [Number(asked.Memory ?? 0), asNumber(host["Memory"]) ?? 0];
  return asked.MemorySwap === undefined && memory.some((each) => value === 2 * each);
}

const PROCESSOR_SHARE = ["NanoCpus", "CpuPeriod", "CpuQuota"];
/** Default period of a quota of processor time, in microseconds. */
const USUAL_PERIOD = 100_000;

/**
 * Whether the engine reports the wanted share of processors both as a number and as a quota, as
 * podman does. Docker accepts and reports only one of them.
 */
function tellsShareTwice(asked: HostBody, host: JsonRecord): boolean {
  const [cpus, quota] = [host["NanoCpus"], host["CpuQuota"]].map((each) => asNumber(each) ?? 0);
  if (!(Number(cpus) > 0 && Number(quota) > 0)) return false;
  const wanted = asked.NanoCpus === undefined
    ? Number(asked.CpuQuota ?? 0) / Number(asked.CpuPeriod ?? USUAL_PERIOD)
    : Number(asked.NanoCpus) / 1e9;
  // The tolerance is one microsecond of the default period, as quotas are whole microseconds.
  return Math.abs(wanted - Number(cpus) / 1e9) <= 1 / USUAL_PERIOD;
}

function policyText(policy: HostBody["RestartPolicy"] | Json | undefined): string {
  const { Name, MaximumRetryCount } = asRecord(policy as Json);
  const name = asText(Name) || "no";
  const count = asNumber(MaximumRetryCount) ?? 0;
  return name === "on-failure" && count > 0 ? `${name}:${count}` : name;
}

/** A number of bytes for people. */
export function bytesText(value: number): string {
  const [size, unit] = value % 2 ** 30 === 0 ? [2 ** 30, "GiB"] : [2 ** 20, "MiB"];
  return value % size === 0 ? `${value / size} ${unit}` : `${value} bytes`;
}
