import { join } from "node:path";
import { RealTree } from "../deploy/mod.ts";
import { errors } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";
import type { TemplatePaths } from "./template_paths.ts";

/**
 * Checks that no link leads a path in `live` out of it, or one that a swarm may make of it. Throws
 * `path_escapes`.
 */
export async function requireLiveInside(
  { files }: Pick<PrepareParts, "files">,
  live: string,
  path: string,
  becoming: TemplatePaths,
): Promise<void> {
  const tree = new RealTree(files, live);
  for (const each of [join(live, path), ...await becoming(join(live, path))]) {
    if (!await tree.leadsOut(each)) continue;
    throw errors.path_escapes(
      `${each} leads out of the stack's live files: a container put a link there; remove it`,
    );
  }
}
