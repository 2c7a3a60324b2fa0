import type { PipelineParts } from "../pipeline/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { passedVariables } from "./engine_environment.ts";
import type { System } from "./system.ts";

/** Everything about the pipeline that the settings say. */
export function pipelineOptions(
  settings: Settings,
  { env }: System,
): PipelineParts["options"] {
  const { deploy, data, git } = settings;
  return {
    dataDir: data.dir,
    protectedPaths: settings.secretFiles,
    configBaseDir: deploy.configBaseDir,
    allowLocalRepositoryUrl: deploy.allowLocalRepositoryUrl,
    passedVariables: passedVariables(settings, env),
    cloneDepth: git.cloneDepth,
    rollback: deploy.rollback,
    watchMs: deploy.watchMs,
    imageRetention: deploy.releaseImageRetention,
    filesRetention: deploy.artifactGcEnabled ? deploy.artifactGcRetentionRecords : Infinity,
    configRetention: deploy.swarmConfigRetention,
    secretRetention: deploy.swarmSecretRetention,
    queuesDeferred: settings.syncWindowQueue,
  };
}
