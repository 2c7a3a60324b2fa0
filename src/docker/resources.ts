import { type EngineApi, pathName } from "./api.ts";
import type { LabelFilter, ResourceSummary } from "./engine.ts";
import { labelFilters } from "./filters.ts";
import { asList, asRecord, asText, asTexts, type JsonRecord } from "./json.ts";

/** Volumes that carry all `labels`. */
export async function listVolumes(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<ResourceSummary[]> {
  const query = labelFilters(labels);
  const answer = await api.json({ method: "GET", path: "/volumes", query }, signal);
  return asList(asRecord(answer)["Volumes"]).map(asRecord).map((volume) => ({
    ...summary(volume, "Name"),
    options: asTexts(volume["Options"]),
  }));
}

/** Networks that carry all `labels`. */
export async function listNetworks(
  api: EngineApi,
  labels: LabelFilter,
  signal: AbortSignal,
): Promise<ResourceSummary[]> {
  const query = labelFilters(labels);
  const answer = await api.json({ method: "GET", path: "/networks", query }, signal);
  return asList(answer).map(asRecord).map(networkSummary);
}

/** A network as the engine lists it. */
export function networkSummary(network: JsonRecord): ResourceSummary {
  return {
    ...summary(network, "Id"),
    options: asTexts(network["Options"]),
    network: {
      internal: network["Internal"] === true,
      attachable: network["Attachable"] === true,
      ipv6: network["EnableIPv6"] === true,
      pools: asList(asRecord(network["IPAM"])["Config"]).map(asRecord).map((pool) => ({
        subnet: asText(pool["Subnet"]),
        gateway: asText(pool["Gateway"]),
        range: asText(pool["IPRange"]),
      })),
    },
  };
}

/** Removes a volume or network; one that is gone is fine. */
export async function removeResource(
  api: EngineApi,
  kind: "volumes" | "networks",
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await api.send({ method: "DELETE", path: `/${kind}/${pathName(name)}`, accept: [404] }, signal);
}

function summary(resource: JsonRecord, idKey: "Id" | "Name"): ResourceSummary {
  return {
    id: asText(resource[idKey]),
    name: asText(resource["Name"]),
    driver: asText(resource["Driver"]),
    labels: asTexts(resource["Labels"]),
  };
}
