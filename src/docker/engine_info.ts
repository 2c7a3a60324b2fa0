import type { EngineApi } from "./api.ts";
import type { EngineInfo } from "./engine_facts.ts";
import { asRecord, asText, type JsonRecord } from "./json.ts";
import { asName } from "./told.ts";

/** The engine's facts about itself, with the agreed API version. */
export async function engineInfo(api: EngineApi, signal: AbortSignal): Promise<EngineInfo> {
  const info = asRecord(await api.json({ method: "GET", path: "/info", isBeside: true }, signal));
  const swarm = asRecord(info["Swarm"]);
  const { version, apiVersion } = await api.version(signal);
  return {
    id: asName(info["ID"]),
    cluster: asName(asRecord(swarm["Cluster"])["ID"]),
    hostname: asName(info["Name"]),
    version,
    apiVersion,
    swarm: swarmRole(swarm),
    keepsUnnamed: !JSON.stringify(info["DriverStatus"] ?? []).includes("io.containerd.snapshotter"),
  };
}

/** The engine's role: a manager can change the swarm now, unlike a pending or locked one. */
function swarmRole(swarm: JsonRecord): EngineInfo["swarm"] {
  const state = asText(swarm["LocalNodeState"]);
  if (state === "" || state === "inactive") return "inactive";
  if (state !== "active") return "other";
  return swarm["ControlAvailable"] === true ? "manager" : "worker";
}
