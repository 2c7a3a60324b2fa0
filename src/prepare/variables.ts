import type { PrepareParts } from "./parts.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";

/** Variables of a deployment: external secrets win over the configuration's, those over `PASS_ENV`. */
export function variablesOf(
  parts: Pick<PrepareParts, "options">,
  target: ResolvedTarget,
): Record<string, string> {
  return { ...parts.options.passedVariables, ...target.deployment.environment, ...target.secrets };
}
