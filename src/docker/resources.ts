import { type EngineApi, pathName } from "./api.ts";
import type { Query } from "./api_request.ts";
import type { Engine, ResourceSummary } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asList, asRecord, asText, asTexts, type JsonRecord } from "./json.ts";
import { anyMembers, members, short, USED_LABELS } from "./kept_parts.ts";
import { asFewLabels, asName } from "./told.ts";

/** The calls of an engine about existing volumes and networks. */
export function resourceCalls(api: EngineApi) {
  return {
    listVolumes: (labels, signal) => volumesOf(api, labelFilters(labels), signal),
    findVolumes: async (names, signal) => {
      if (names.length === 0) return [];
      const wanted = new Set(names);
      return await volumesOf(api, { filters: { name: exactly(names) } }, signal, wanted);
    },
    removeVolume: (name, signal) => api.remove(`/volumes/${pathName(name)}`, signal),
    listNetworks: (labels, signal) => networksOf(api, labelFilters(labels), signal),
    findNetworks: (references, signal) => findNetworks(api, references, signal),
    removeNetwork: (id, signal) => api.remove(`/networks/${pathName(id)}`, signal),
  } satisfies Partial<Engine>;
}

async function volumesOf(
  api: EngineApi,
  query: Query,
  signal: AbortSignal,
  wanted?: ReadonlySet<string>,
): Promise<ResourceSummary[]> {
  const of = (volume: JsonRecord) =>
    wanted?.has(asText(volume["Name"])) === false ? undefined : volumeSummary(volume);
  const shape = { keep: VOLUMES, under: "Volumes", of };
  return await api.list({ method: "GET", path: "/volumes", query }, shape, signal);
}

/**
 * Patterns for the filter by name: engines also match parts of names, and others decide what is named
 * so. The results still have to be compared, as not every engine knows patterns.
 */
function exactly(names: readonly string[]): string[] {
  return names.map((name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}

/** The existing networks with these names or full ids. */
async function findNetworks(
  api: EngineApi,
  references: readonly string[],
  signal: AbortSignal,
): Promise<ResourceSummary[]> {
  const found = async (filters: Readonly<Record<string, readonly string[]>>) =>
    await networksOf(api, { filters }, signal);
  const wanted = new Set(references);
  const ids = references.filter((each) => ID.test(each));
  // Two calls, because filters are combined by "and"; a name may look like an id. Names and no patterns:
  // the manager of a swarm takes the text for the beginning of a name.
  const all = [
    ...(references.length === 0 ? [] : await found({ name: references })),
    ...(ids.length === 0 ? [] : await found({ id: ids })),
  ].filter((each) => wanted.has(each.name) || wanted.has(each.id));
  return [...new Map(all.map((each) => [each.id, each])).values()];
}

const ID = /^[0-9a-f]{64}$/;

async function networksOf(
  api: EngineApi,
  query: Query,
  signal: AbortSignal,
): Promise<ResourceSummary[]> {
  return await api.list({ method: "GET", path: "/networks", query }, NETWORKS, signal);
}

const VOLUMES = members({
  ...short("Name", "Driver"),
  Labels: USED_LABELS,
  Options: anyMembers("short"),
});

function volumeSummary(volume: JsonRecord): ResourceSummary {
  return { ...summary(volume, "Name"), options: asTexts(volume["Options"]) };
}

/** A network from the engine's list. */
function networkSummary(network: JsonRecord): ResourceSummary {
  return {
    ...summary(network, "Id"),
    options: asTexts(network["Options"]),
    network: {
      internal: network["Internal"] === true,
      attachable: network["Attachable"] === true,
      ipv6: network["EnableIPv6"] === true,
      pools: asList(asRecord(network["IPAM"])["Config"]).map(asRecord).map((pool) => ({
        subnet: asName(pool["Subnet"]),
        gateway: asName(pool["Gateway"]),
        range: asName(pool["IPRange"]),
      })),
    },
  };
}

function summary(resource: JsonRecord, idKey: "Id" | "Name"): ResourceSummary {
  return {
    id: asName(resource[idKey]),
    name: asName(resource["Name"]),
    driver: asName(resource["Driver"]),
    labels: asFewLabels(resource["Labels"]),
  };
}

/** Shape of a list of networks. */
export const NETWORKS = {
  keep: members({
    ...short("Id", "Name", "Driver", "Internal", "Attachable", "EnableIPv6"),
    Labels: USED_LABELS,
    Options: anyMembers("short"),
    IPAM: members({ Config: members(short("Subnet", "Gateway", "IPRange")) }),
  }),
  of: networkSummary,
} as const;
