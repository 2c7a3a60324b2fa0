import { posix } from "node:path";
import { composeReferences, isDefaultEnvFile, MOST_BYTES, sideFilePlace } from "../config/mod.ts";
import {
  type Deployment,
  errors,
  type Revision,
  type StackwrightError,
  utf8,
} from "../model/mod.ts";
import type { Source } from "../source/source.ts";
import type { PrepareParts } from "./parts.ts";
import { countPaths, countSigns } from "./recorded_bounds.ts";

/** The files of a source that rendering reads. Paths are relative to the root. */
export interface ComposeInputs {
  /** In merge order. */
  readonly composeFiles: readonly string[];
  readonly envFiles: readonly string[];
  /** Every path known so far whose content or absence matters. */
  readonly paths: readonly string[];
  /** Whether `paths` is complete. */
  readonly complete: boolean;
  /** Compose files with other default names, which exist and are not used. */
  readonly unused: readonly string[];
}

/** A deployment whose files are looked for. */
interface Wanted {
  readonly revision: Revision;
  readonly deployment: Deployment;
  /** Owner of what is encrypted in them. */
  readonly owner: string;
}

/**
 * Finds a deployment's compose and dotenv files, and follows their references.
 *
 * Throws `config_invalid` when one is missing, and `path_escapes` when one lies outside the source.
 */
export async function composeInputs(
  parts: Pick<PrepareParts, "source" | "turns">,
  { revision, deployment, owner }: Wanted,
  signal: AbortSignal,
): Promise<ComposeInputs> {
  const { source } = parts;
  const has = async (paths: readonly string[]) => {
    const entries = await source.entries(revision, paths, signal);
    return new Set(paths.filter((path) => {
      const kind = entries.get(path)?.kind;
      return kind !== undefined && kind !== "directory" && kind !== "submodule";
    }));
  };
  await requireDirectory(source, revision, deployment, signal);
  const chosen = await chooseComposeFiles(deployment, has);
  const envFiles = await chooseEnvFiles(deployment, has);
  const followed = await follow(parts, revision, {
    files: chosen.files,
    base: deployment.workingDir,
    owner,
  }, signal);
  const paths = new Set([...chosen.looked, ...envFiles.looked, ...followed.paths]);
  paths.forEach(countPaths("paths"));
  return {
    composeFiles: chosen.files,
    envFiles: envFiles.files,
    paths: [...(followed.wide ? ["."] : []), ...paths],
    complete: !followed.outside,
    unused: chosen.unused,
  };
}

/** Checks the working directory itself first, for an error that is clearer than a missing file. */
async function requireDirectory(
  source: Source,
  revision: Revision,
  { name, workingDir }: Deployment,
  signal: AbortSignal,
): Promise<void> {
  const parts = workingDir === "." ? [] : workingDir.split("/");
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  const entries = await source.entries(revision, paths, signal);
  for (const path of paths) {
    const kind = entries.get(path)?.kind;
    if (kind === "directory" || kind === "submodule") continue;
    const why = kind === undefined
      ? "does not exist in the repository"
      : kind === "symlink"
      ? "is a link, which is not followed here; name the directory that it leads to"
      : "is a file; name the directory of the compose files";
    throw errors.config_invalid(`deployment ${name}: working_dir: ${path} ${why}`);
  }
}

type Has = (paths: readonly string[]) => Promise<ReadonlySet<string>>;

async function chooseComposeFiles(deployment: Deployment, has: Has) {
  const { workingDir, composeFiles, composeFilesGiven, name } = deployment;
  const looked = composeFiles.map((each) => inSource(workingDir, each, `compose file ${each}`));
  const found = await has(looked);
  if (composeFilesGiven) {
    const missing = looked.filter((path) => !found.has(path));
    if (missing.length > 0) throw missingFile(name, "compose_files", missing, workingDir);
    return { files: looked, looked, unused: [] };
  }
  const [first, ...unused] = looked.filter((path) => found.has(path));
  if (first === undefined) {
    throw missingFile(name, "compose_files (by default)", looked, workingDir);
  }
  return { files: [first], looked, unused };
}

async function chooseEnvFiles(deployment: Deployment, has: Has) {
  const { workingDir, name } = deployment;
  // Files beside the configuration of another repository do not belong to this source.
  const envFiles = deployment.envFiles.filter((each) =>
    sideFilePlace(deployment, each).from === "deployed"
  );
  const looked = envFiles.map((each) =>
    inSource(".", sideFilePlace(deployment, each).path, `env file ${each}`)
  );
  const found = await has(looked);
  const missing = envFiles.filter((each, index) =>
    !isDefaultEnvFile(each) && !found.has(looked[index] ?? "")
  );
  if (missing.length > 0) throw missingFile(name, "env_files", missing, workingDir);
  return { files: looked.filter((path) => found.has(path)), looked };
}

/**
 * Follows `include` and `extends`, each file once, and collects the paths they read. Paths in the
 * deployment's own files are relative to `base`, in others to the directory of the file.
 */
async function follow(
  { source, turns }: Pick<PrepareParts, "source" | "turns">,
  revision: Revision,
  start: { readonly files: readonly string[]; readonly base: string; readonly owner: string },
  signal: AbortSignal,
) {
  const paths = new Set<string>();
  const count = countPaths("paths");
  const readAll = countSigns();
  const note = (path: string) => {
    if (!paths.has(path)) count(path);
    paths.add(path);
  };
  const state = { wide: false, outside: false };
  const queue = start.files.map((file) => ({ file, base: start.base, working: start.base }));
  const seen = new Set<string>();
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { file, base, working } = next;
    const key = `${working}:${base}:${file}`;
    if (seen.has(key)) continue;
    seen.add(key);
    note(file);
    if (seen.size > MOST_COMPOSE_FILES) throw tooManyFiles();
    const bytes = await source.read(revision, file, signal, MOST_BYTES, start.owner);
    if (bytes === undefined) {
      // Missing, or reached through a link that only a checkout resolves.
      state.wide = true;
      continue;
    }
    const found = await turns.take(() => {
      const text = utf8(bytes);
      readAll(text);
      return composeReferences(text);
    }, signal);
    state.wide ||= found.wide;
    state.outside ||= found.outside;
    const resolve = (path: string) => inSource(base, path, `${path}, named by ${file}`);
    for (const path of found.composeFiles.map(resolve)) {
      const below = posix.dirname(path);
      const from = posix.join(start.base, posix.relative(base, below));
      queue.push({ file: path, base: below, working: from });
    }
    for (const path of found.files) note(resolve(path));
    for (const path of found.ofIncludes) note(inSource(working, path, `${path}, named by ${file}`));
  }
  return { paths: [...paths], ...state };
}

/** A path below the root of the source. */
function inSource(base: string, path: string, what: string): string {
  const joined = posix.normalize(posix.join(base, path)).replace(/\/$/, "");
  if (joined === ".." || joined.startsWith("../") || posix.isAbsolute(path)) {
    throw errors.path_escapes(
      `${what} lies outside the repository: a deployment may only read files of its own source`,
    );
  }
  return joined;
}

/** Compose files that one deployment may have; more are a mistake or an attack. */
export const MOST_COMPOSE_FILES = 500;
/** Paths of other files that they may name, counted once per possible base directory. */
export const MOST_PLACES = 20_000;
/** Characters of all these places, from the root of the source on. */
export const MOST_CHARACTERS = 2 * 1024 * 1024;

/** The error for more files than {@link MOST_COMPOSE_FILES}, {@link MOST_PLACES} or {@link MOST_CHARACTERS}. */
export function tooManyFiles(): StackwrightError {
  return errors.config_invalid(
    `the deployment consists of more than ${MOST_COMPOSE_FILES} compose files, or they name other ` +
      `files at more than ${MOST_PLACES} places, or at places of more than ${MOST_CHARACTERS} ` +
      "characters together, which includes below each other multiply",
  );
}

function missingFile(name: string, field: string, missing: readonly string[], workingDir: string) {
  return errors.config_invalid(
    `deployment ${name}: ${field}: no such file in the repository: ${missing.join(", ")} ` +
      `(working_dir is ${workingDir})`,
  );
}
