import { type EngineApi, pathName } from "./api.ts";
import type { Query } from "./api_request.ts";
import type { Engine, ResourceSummary } from "./engine.ts";
import type { EntryReading } from "./answer.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { everybodys, isEverybodys, labelFilters, sharingLists } from "./filters.ts";
import { asList, asRecord, asText, asTexts, type Json, type JsonRecord } from "./json.ts";
import { anyMembers, FEW_LABELS, members, short } from "./kept_parts.ts";
import { asFewLabels, asName } from "./told.ts";

type Listing = (
  query: Query,
  how: Partial<EntryReading<ResourceSummary>>,
  signal: AbortSignal,
) => Promise<ResourceSummary[]>;

/** The calls of an engine about existing volumes and networks. */
export function resourceCalls(api: EngineApi) {
  const listing =
    (path: string, shape: EntryReading<ResourceSummary>): Listing => (query, how, signal) =>
      api.list({ method: "GET", path, query }, { ...shape, ...how }, signal);
  const [volumes, networks] = [listing("/volumes", VOLUMES), listing("/networks", NETWORKS)];
  return {
    listVolumes: sharingLists((labels, signal) =>
      volumes(labelFilters(labels), listed(labels), signal)
    ),
    findVolumes: async (names, signal) => {
      if (names.length === 0) return [];
      const query: Query = names.length > MOST_PATTERNS
        ? {}
        : { filters: { name: exactly(names) } };
      return await volumes(query, wanted(names, volumeSummary), signal);
    },
    everyVolume: (isWanted, signal) => volumes({}, wantedBy(isWanted, volumeSummary), signal),
    removeVolume: (name, signal) => api.remove(`/volumes/${pathName(name)}`, signal),
    listNetworks: sharingLists((labels, signal) =>
      networks(labelFilters(labels), listed(labels), signal)
    ),
    findNetworks: (references, signal) => findNetworks(networks, references, signal),
    removeNetwork: (id, signal) => api.remove(`/networks/${pathName(id)}`, signal),
  } satisfies Partial<Engine>;
}

/** Names that volumes are filtered by: each takes an engine about 6 µs for each volume that there is. */
const MOST_PATTERNS = 100;

/**
 * Patterns for the filter by name: engines also match parts of names, and others decide what is named
 * so. The results still have to be compared, as not every engine knows patterns.
 */
function exactly(names: readonly string[]): string[] {
  return names.map((name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}

/** The existing networks with these names or full ids. */
async function findNetworks(networks: Listing, references: readonly string[], signal: AbortSignal) {
  const reading = wanted(references, networkSummary);
  const found = (filters: Query) => networks({ filters }, reading, signal);
  const ids = references.filter((each) => NETWORK_ID.test(each));
  // Two calls, because filters are combined by "and"; a name may look like an id. Names and no patterns:
  // the manager of a swarm takes the text for the beginning of a name.
  const all = [
    ...(references.length === 0 ? [] : await found({ name: references })),
    ...(ids.length === 0 ? [] : await found({ id: ids })),
  ];
  return [...new Map(all.map((each) => [each.id, each])).values()];
}

/** What an engine takes for the id of a network before it looks for a name. */
export const NETWORK_ID = /^[0-9a-f]{64}$/;

/**
 * Reads what has one of these names or ids: engines also find others, whose length others decide. What
 * has one is told or the call fails: it must not count as nothing, whoever made it unreadable.
 */
function wanted<T>(references: readonly string[], of: (entry: JsonRecord) => T) {
  const all = new Set(references);
  return wantedBy((each) => all.has(each), of);
}

function wantedBy<T>(isWanted: (each: string) => boolean, of: (entry: JsonRecord) => T) {
  const has = ({ Name, Id }: JsonRecord) => isWanted(asText(Name)) || isWanted(asText(Id));
  return { isWhole: true, of: (entry: JsonRecord) => has(entry) ? of(entry) : undefined };
}

/** Reads the things of everybody, or the whole of what one stack has. */
function listed(labels: LabelFilter): Partial<EntryReading<ResourceSummary>> {
  return { ...everybodys(labels, labelsOf), isWhole: !isEverybodys(labels) };
}

function labelsOf(resource: JsonRecord): Json | undefined {
  return resource["Labels"];
}

const VOLUMES = {
  keep: members({ ...short("Name", "Driver"), Labels: FEW_LABELS, Options: anyMembers("short") }),
  under: "Volumes",
  of: volumeSummary,
};

function volumeSummary(volume: JsonRecord): ResourceSummary {
  return { ...summary(volume, "Name"), options: asTexts(volume["Options"]) };
}

function networkSummary(network: JsonRecord): ResourceSummary {
  const [ipv4, ipam] = [network["EnableIPv4"], asRecord(network["IPAM"])];
  return {
    ...summary(network, "Id"),
    options: asTexts(network["Options"]),
    network: {
      internal: network["Internal"] === true,
      attachable: network["Attachable"] === true,
      ...(typeof ipv4 === "boolean" ? { ipv4 } : {}),
      ipv6: network["EnableIPv6"] === true,
      ipamDriver: asName(ipam["Driver"]),
      ipamOptions: asTexts(ipam["Options"]),
      pools: asList(ipam["Config"]).map(asRecord).map((pool) => ({
        subnet: asName(pool["Subnet"]),
        gateway: asName(pool["Gateway"]),
        range: asName(pool["IPRange"]),
        others: asTexts(pool["AuxiliaryAddresses"]),
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
    ...short("Id", "Name", "Driver", "Internal", "Attachable", "EnableIPv4", "EnableIPv6"),
    Labels: FEW_LABELS,
    Options: anyMembers("short"),
    IPAM: members({
      ...short("Driver"),
      Config: members({
        ...short("Subnet", "Gateway", "IPRange"),
        AuxiliaryAddresses: anyMembers("short"),
      }),
    }),
  }),
  of: networkSummary,
} as const;
