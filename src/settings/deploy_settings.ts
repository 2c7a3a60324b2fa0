import { checkWorkingDir } from "../config/mod.ts";
import { oneOf } from "./one_of.ts";
import type { VariableReader } from "./variable_reader.ts";

/** Reads the settings of deployments. */
export function deploySettings(reader: VariableReader) {
  const base = checkWorkingDir(reader.text("DEPLOY_CONFIG_BASE_DIR") ?? "/");
  if ("problem" in base) {
    reader.refuse("DEPLOY_CONFIG_BASE_DIR", "expected a directory inside the repository");
  }
  return {
    /** Where a repository's configuration is, relative to its root. */
    configBaseDir: "value" in base ? base.value : ".",
    passEnv: reader.boolean("PASS_ENV"),
    /** Most of each kind of work at the same time, on each engine. */
    concurrent: {
      deployments: reader.integer("MAX_CONCURRENT_DEPLOYMENTS"),
      preparations: reader.integer("MAX_CONCURRENT_PREDEPLOYMENTS"),
    },
    rollback: reader.boolean("DEPLOY_ROLLBACK"),
    /** Milliseconds for which containers without a health check are watched. */
    watchMs: reader.seconds("DEPLOY_WATCH") * 1000,
    releaseImageRetention: reader.integer("RELEASE_IMAGE_RETENTION"),
    artifactGcEnabled: reader.boolean("ARTIFACT_GC_ENABLED"),
    artifactGcRetentionRecords: reader.integer("ARTIFACT_GC_RETENTION_RECORDS"),
    allowLocalRepositoryUrl: reader.boolean("ALLOW_LOCAL_REPOSITORY_URL"),
    quiet: reader.boolean("CONTAINER_QUIET_DEPLOY"),
    recoverOnStartup: reader.boolean("RECOVER_ON_STARTUP"),
    schedulerEnabled: reader.boolean("SCHEDULER_ENABLED"),
    swarmFeatures: reader.boolean("CONTAINER_SWARM_FEATURES"),
    /** Old revisions kept; -1 is all. */
    swarmConfigRetention: reader.integer("CONTAINER_SWARM_CONFIG_RETENTION"),
    swarmSecretRetention: reader.integer("CONTAINER_SWARM_SECRET_RETENTION"),
    /** How to treat bind mounts of repository files on an engine on another machine. */
    remoteFiles: oneOf(reader, "REMOTE_FILES", ["refuse", "volume"], "refuse"),
  };
}
