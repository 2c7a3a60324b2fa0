import { join } from "node:path";
import { dotenvEntries } from "../compose/mod.ts";
import type { PrepareParts } from "./parts.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";
import { readText } from "../system/mod.ts";

/** Variables of a deployment: external secrets win over the configuration's, those over `PASS_ENV`. */
export function variablesOf(
  parts: Pick<PrepareParts, "options">,
  target: ResolvedTarget,
): Record<string, string> {
  return { ...parts.options.passedVariables, ...target.deployment.environment, ...target.secrets };
}

/**
 * The variables that compose is started with. Compose prefers them to dotenv files, so those of
 * `PASS_ENV` are left out if one of `envFiles` (paths below `tree`) sets them: only `environment`
 * and external secrets win over dotenv files.
 */
export async function variablesBesideFiles(
  parts: PrepareParts,
  target: ResolvedTarget,
  tree: string,
  envFiles: readonly string[],
): Promise<Record<string, string>> {
  const passed = { ...parts.options.passedVariables };
  if (Object.keys(passed).length > 0) {
    for (const file of envFiles) {
      const text = await readText(parts.files, join(tree, file)) ?? "";
      for (const { name } of dotenvEntries(text)) delete passed[name];
    }
  }
  return { ...passed, ...target.deployment.environment, ...target.secrets };
}
