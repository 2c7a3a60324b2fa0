import { join } from "node:path";
import type { ComposeProject } from "../deploy/mod.ts";
import type { ComposeInvocation } from "../model/mod.ts";
import type { Target } from "./target.ts";

/** The project for rendering, with its files in the tree. */
export function renderProject(
  target: Target,
  trees: Trees,
  composeFiles: readonly string[],
  invocation: ComposeInvocation,
): ComposeProject {
  const { tree } = trees;
  return {
    name: target.key.name,
    directory: join(tree, target.deployment.workingDir),
    files: composeFiles.map((file) => join(tree, file)),
    envFiles: envFilesIn(trees, invocation),
    profiles: invocation.profiles,
    ...trees,
  };
}

/** The directories that a release reads from. */
export interface Trees {
  readonly tree: string;
  /** Tree of its configuration, where some files come from another source. */
  readonly configurationTree?: string | undefined;
}

/**
 * Absolute paths of dotenv files, those beside the configuration first, since later ones win.
 * Without any, an empty one keeps compose from reading `.env` by itself.
 */
export function envFilesIn(
  { tree, configurationTree }: Trees,
  invocation: Pick<ComposeInvocation, "envFiles" | "configurationEnvFiles">,
): string[] {
  const beside = configurationTree === undefined ? [] : invocation.configurationEnvFiles ?? [];
  const files = [
    ...beside.map((file) => join(configurationTree ?? "", file)),
    ...invocation.envFiles.map((file) => join(tree, file)),
  ];
  return files.length === 0 ? ["/dev/null"] : files;
}
