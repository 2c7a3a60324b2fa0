import { join } from "node:path";
import { dotenvEntries } from "../compose/mod.ts";
import type { PrepareParts } from "./parts.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";
import { readText } from "../system/mod.ts";

/**
 * The variables of a deployment: external secrets win over the configuration's own, and these over
 * what `PASS_ENV` lets through.
 */
export function variablesOf(
  parts: Pick<PrepareParts, "options">,
  target: ResolvedTarget,
): Record<string, string> {
  return { ...parts.options.passedVariables, ...target.deployment.environment, ...target.secrets };
}

/**
 * The variables compose is started with. It prefers them to every dotenv file, so what `PASS_ENV` lets
 * through is left out where one of `envFiles` (paths below `tree`) sets it: the files win over that,
 * and only `environment` and external secrets win over them.
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
