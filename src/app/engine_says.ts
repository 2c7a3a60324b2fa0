import type { EngineClient, EngineInfo } from "../docker/mod.ts";
import type { Settings } from "../settings/mod.ts";

/** Version and swarm mode of an engine in a few words. Throws what the engine throws. */
export async function engineSays(
  engine: Pick<EngineClient, "info">,
  { deploy }: Pick<Settings, "deploy">,
  signal: AbortSignal,
): Promise<string> {
  const info = await engine.info(signal);
  return `${info.version}, API ${info.apiVersion}${swarmSays(info, deploy)}`;
}

/** The default mode of deployments on an engine that is in a swarm. */
function swarmSays(
  { swarm }: Pick<EngineInfo, "swarm">,
  { swarmFeatures }: Pick<Settings["deploy"], "swarmFeatures">,
): string {
  if (swarm === "inactive") return "";
  if (swarm !== "manager") return ", no manager of its swarm: deployments are containers";
  return swarmFeatures
    ? ", manages a swarm: deployments are stacks"
    : ", manages a swarm: deployments are containers (CONTAINER_SWARM_FEATURES)";
}
