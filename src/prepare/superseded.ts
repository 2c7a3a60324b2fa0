import type { Release, Revision } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";
import type { Target } from "./target.ts";

/** Whether an automatic run would go back, as by a late webhook or a moved-back branch. */
export async function isSuperseded(
  parts: Pick<PrepareParts, "source">,
  target: Target,
  recorded: Pick<Release, "revision" | "configuration">,
  signal: AbortSignal,
): Promise<boolean> {
  const { revision, origin, deployment } = target;
  if (origin === "manual" || deployment.forceRecreate) return false;
  if (await isOlder(parts, revision, recorded.revision, signal)) return true;
  if (deployment.repositoryUrl === "" || recorded.configuration === undefined) return false;
  return await isOlder(parts, target.configuration, recorded.configuration, signal);
}

/** Whether a revision is an ancestor of the deployed one, on the same reference. */
async function isOlder(
  { source }: Pick<PrepareParts, "source">,
  now: Revision,
  deployed: Revision,
  signal: AbortSignal,
): Promise<boolean> {
  if (now.id === deployed.id || now.reference !== deployed.reference) return false;
  if (now.source.name !== deployed.source.name) return false;
  return await source.isAncestor(now, deployed, signal) === true;
}
