import { isDefaultEnvFile, sideFilePlace } from "../config/mod.ts";
import { errors, type Revision } from "../model/mod.ts";
import { sourceAsOwner } from "../system/mod.ts";
import { contentIds } from "./content.ts";
import type { PrepareParts } from "./parts.ts";
import { requireInside } from "./real_paths.ts";
import type { Target } from "./target.ts";

/** Files that a deployment of another repository reads from its configuration's source. */
export interface ConfigurationFiles {
  readonly revision: Revision;
  /** Directory of its tree; `undefined` if nothing is read from it. */
  readonly tree: string | undefined;
  /** Dotenv files below the tree, in order. */
  readonly envFiles: readonly string[];
  /** Texts that were decrypted. */
  readonly secrets: ReadonlySet<string>;
  /** Content ids of all paths that were checked, and of the whole tree if one of them is a link. */
  readonly ids: Readonly<Record<string, string>>;
  /** Whether one of the paths is a link. */
  readonly isLinked: boolean;
}

/**
 * Finds dotenv files that a deployment of another repository has beside its configuration, and puts
 * their tree on disk. `undefined` when configuration and deployment share a source.
 *
 * Throws `config_invalid` when one is missing, `path_escapes` when a link leads out of the source,
 * and what the source throws.
 */
export async function configurationFiles(
  parts: PrepareParts,
  { deployment, configuration }: Pick<Target, "deployment" | "configuration">,
  signal: AbortSignal,
): Promise<ConfigurationFiles | undefined> {
  if (deployment.repositoryUrl === "") return undefined;
  const wanted = deployment.envFiles.map((file) => ({ file, ...sideFilePlace(deployment, file) }))
    .filter(({ from }) => from === "configuration");
  const looked = wanted.map(({ path }) => path);
  const idsOf = async (paths: readonly string[]) =>
    Object.fromEntries(await contentIds(parts.source, configuration, paths, signal));
  const own = await idsOf(looked);
  // A link's target may change without a change at the link's path.
  const isLinked = Object.values(own).some((id) => id.startsWith("symlink:"));
  const ids = isLinked ? { ...own, ...await idsOf(["."]) } : own;
  const exists = (path: string) => /^(?:file|executable|symlink):/.test(ids[path] ?? "");
  const missing = wanted.filter(({ file, path }) => !isDefaultEnvFile(file) && !exists(path));
  if (missing.length > 0) {
    throw errors.config_invalid(
      `deployment ${deployment.name}: env_files: no such file in ${configuration.source.name}: ` +
        `${missing.map(({ path }) => path).join(", ")}; a file of the deployed repository is ` +
        `written remote:<path>`,
    );
  }
  const envFiles = looked.filter(exists);
  const found = { revision: configuration, envFiles, ids, isLinked };
  if (envFiles.length === 0) return { ...found, tree: undefined, secrets: new Set() };
  return { ...found, ...await placeBeside(parts, configuration, envFiles, signal) };
}

/**
 * Puts the tree of a configuration on disk, with the given files decrypted. Throws as
 * {@link configurationFiles} does, and what decrypting throws.
 */
export async function placeBeside(
  parts: PrepareParts,
  revision: Revision,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly tree: string; readonly secrets: ReadonlySet<string> }> {
  const tree = await parts.source.materialise(revision, signal);
  const real = await requireInside(parts, tree, paths);
  const job = { revision, tree, owner: sourceAsOwner(revision.source.name), paths: real };
  const { secrets } = await parts.encrypted.reveal(job, signal);
  return { tree, secrets };
}
