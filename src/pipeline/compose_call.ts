import { join } from "node:path";
import { type ComposeCall, type Placed, stackDirectories } from "../deploy/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { envFilesIn } from "./prepare_release.ts";

/** What compose is told when it changes containers: the stable directory, the model on standard input. */
export function composeCall(parts: PipelineParts, placed: Placed): ComposeCall {
  const { release } = placed;
  return {
    project: {
      name: release.key.name,
      directory: join(stackDirectories(parts.options.hostDataDir, release.key).stack, "current"),
      files: ["-"],
      envFiles: envFilesIn(placed, release.invocation),
      profiles: release.invocation.profiles,
    },
    variables: release.invocation.environment,
    model: release.model,
  };
}
