import { type ComposeInvocation, errors } from "../model/mod.ts";
import type { ComposeInputs } from "./compose_files.ts";
import type { ConfigurationFiles } from "./configuration_files.ts";
import type { PrepareParts } from "./parts.ts";
import { envFilesIn, renderProject } from "./render_project.ts";
import type { PlainSecrets } from "./plain_secrets.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";

interface InvocationInputs {
  readonly inputs: Pick<ComposeInputs, "envFiles" | "composeFiles">;
  /** Directory of the revision's files. */
  readonly tree: string;
  readonly beside: Pick<ConfigurationFiles, "tree" | "envFiles"> | undefined;
  readonly plain: PlainSecrets;
}

/**
 * How compose is called for a target, and its project for rendering: variables win over dotenv files, except
 * for those of `PASS_ENV`.
 *
 * Hides what is a secret in the dotenv files, which nothing reads before that has looked at their sizes.
 * Throws `config_invalid` as {@link PlainSecrets.hideDotenv} does.
 */
export async function invocationOf(
  parts: Pick<PrepareParts, "options">,
  target: ResolvedTarget,
  { inputs, tree, beside, plain }: InvocationInputs,
  signal: AbortSignal,
) {
  const trees = { tree, configurationTree: beside?.tree };
  const dotenv = {
    envFiles: inputs.envFiles,
    ...(beside === undefined ? {} : { configurationEnvFiles: beside.envFiles }),
  };
  await plain.hideDotenv(envFilesIn(trees, dotenv), signal);
  const environment = variablesBesideFiles(parts, target, plain.dotenv);
  const invocation: ComposeInvocation = {
    environment,
    ...dotenv,
    profiles: target.deployment.profiles,
    secretVariables: Object.keys(target.secrets),
  };
  return { invocation, project: renderProject(target, trees, inputs.composeFiles, invocation) };
}

/**
 * The variables that compose is started with. Compose prefers them to dotenv files (`inFiles`: their
 * variables), so those of `PASS_ENV` are left out if a dotenv file sets them: only `environment` and external
 * secrets win over dotenv files. A `PWD` of a dotenv file is among them, since compose prefers that of its
 * process, where it has to be set.
 *
 * Throws `config_invalid` for such a `PWD` with a variable in it.
 */
function variablesBesideFiles(
  parts: Pick<PrepareParts, "options">,
  target: ResolvedTarget,
  inFiles: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = Object.entries(parts.options.passedVariables)
    .filter(([name]) => !Object.hasOwn(inFiles, name));
  return {
    ...Object.fromEntries(passed),
    ...(Object.hasOwn(inFiles, "PWD") ? { PWD: plainly(inFiles["PWD"] ?? "") } : {}),
    ...target.deployment.environment,
    ...target.secrets,
  };
}

function plainly(value: string): string {
  if (!value.includes("$")) return value;
  throw errors.config_invalid(
    "a dotenv file sets PWD with a dollar sign in it, which versions of docker compose read apart: write " +
      "the value without variables, or use another name",
  );
}
