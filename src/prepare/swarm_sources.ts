import { stackDirectories, type SwarmParts } from "../deploy/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** Sources for the configs and secrets of a stack. */
export function swarmSources(
  { files, key, host: { dataDir } }: Pick<PrepareParts, "files" | "key" | "host">,
): Pick<SwarmParts, "contents" | "digest" | "stackDirectory"> {
  return {
    contents: files,
    digest: (text) => key.digest(text),
    stackDirectory: (release) => stackDirectories(dataDir, release.key).stack,
  };
}
