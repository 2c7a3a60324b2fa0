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
  return asList(answer).map((network) => summary(asRecord(network), "Id"));
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
