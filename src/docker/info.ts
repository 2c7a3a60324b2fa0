import type { EngineApi } from "./api.ts";
import type { EngineInfo } from "./engine.ts";
import { asRecord, asText, type JsonRecord } from "./json.ts";

/** Facts that the engine tells of itself, with the API version both sides speak. */
export async function engineInfo(api: EngineApi, signal: AbortSignal): Promise<EngineInfo> {
  const info = asRecord(await api.json({ method: "GET", path: "/info" }, signal));
  const { version, apiVersion } = await api.version(signal);
  return {
    id: asText(info["ID"]),
    name: asText(info["Name"]),
    version,
    apiVersion,
    swarm: swarmRole(asRecord(info["Swarm"])),
  };
}

/** A manager is an engine that can be asked to change the swarm now; a pending or locked one is not. */
function swarmRole(swarm: JsonRecord): EngineInfo["swarm"] {
  const state = asText(swarm["LocalNodeState"]);
  if (state === "" || state === "inactive") return "inactive";
  if (state !== "active") return "other";
  return swarm["ControlAvailable"] === true ? "manager" : "worker";
}
