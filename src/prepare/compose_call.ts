import { join } from "node:path";
import { type ComposeCall, type ReleaseOnDisk, stackDirectories } from "../deploy/mod.ts";
import { actingVariables } from "./model_values.ts";
import type { PrepareParts } from "./parts.ts";

/** Arguments for compose to change containers: stable directory, model on standard input. */
export function composeCall(parts: PrepareParts, onDisk: ReleaseOnDisk): ComposeCall {
  const { release } = onDisk;
  return {
    project: {
      name: release.key.name,
      directory: join(stackDirectories(parts.host.dataDir, release.key).stack, "current"),
      files: ["-"],
      envFiles: [],
      profiles: [],
    },
    variables: actingVariables(release.invocation),
    model: release.model,
  };
}
