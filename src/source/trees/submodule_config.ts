import { StackwrightError } from "../../model/mod.ts";
import { parseSubmoduleConfig } from "../git/gitmodules.ts";
import { requireSuccess } from "../git/git_result.ts";
import type { TreePart } from "./expanded_tree.ts";

/** Bytes of `.gitmodules`: a thousand times what is usual. */
const MOST_CONFIG_BYTES = 256 * 1024;

/** URLs by path, as the commit's own `.gitmodules` has them. */
export async function readConfig(
  part: TreePart,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const entry = await part.repository.paths.find(part.commit, ".gitmodules", signal);
  if (entry?.kind !== "file" && entry?.kind !== "executable") return new Map();
  const content = await part.repository.paths.content(entry.id, signal);
  if (content.length > MOST_CONFIG_BYTES) {
    throw new StackwrightError(
      "source_invalid",
      `${part.prefix}.gitmodules has ${content.length} bytes, the most that is read is ${MOST_CONFIG_BYTES}`,
    );
  }
  const args = ["config", `--blob=${entry.id}`, "--no-includes", "-z", "--list"];
  const result = await part.repository.mirror.run({ args }, signal);
  if (result.code !== 0 && /bad config|fatal:/.test(result.stderr)) {
    throw new StackwrightError(
      "source_invalid",
      `${part.prefix}.gitmodules cannot be read: ${result.stderr.trim().slice(0, 200)}`,
    );
  }
  return parseSubmoduleConfig(
    new TextDecoder().decode(requireSuccess(result, "reading .gitmodules").stdout),
  );
}
