import { join, relative } from "node:path";
import {
  type ComposeProject,
  ignoredUses,
  insideTree,
  labelsOf,
  type LivePaths,
  livePaths,
  makeRelease,
  requireSameVolumes,
  stackDirectories,
  type TreeUse,
  treeUses,
} from "../deploy/mod.ts";
import {
  COMPOSE_LABELS,
  type ComposeInvocation,
  type ComposeModel,
  LABELS,
  type LiveManifest,
  type Release,
  StackwrightError,
} from "../model/mod.ts";
import { composeInputs } from "./compose_files.ts";
import { configurationFiles } from "./configuration_files.ts";
import { configurationText } from "./configuration_digest.ts";
import { ABSENT, contentIds, plainIds } from "./content.ts";
import { requireHooksRun } from "./lifecycle_hooks.ts";
import { operation } from "./measure.ts";
import { requirePlain, revealInputs, withSecrets } from "./reveal_inputs.ts";
import type { PipelineParts } from "./parts.ts";
import { requireLiveInside, requireSafeInputs, requireSafeModel } from "./path_safety.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";
import type { Target } from "./target.ts";
import { variablesBesideFiles, variablesOf } from "./variables.ts";

/** A release that was rendered and has changed nothing yet. */
export interface PreparedRelease {
  readonly release: Release;
  /** Directory of its tree. */
  readonly tree: string;
  /** That of its configuration, where something is read from another source. */
  readonly configurationTree?: string;
  /** As compose printed it, with the paths of the tree: what images are built from. */
  readonly rendered: ComposeModel;
}

/**
 * Makes the release of a target: puts its tree on disk, renders it and digests everything that can
 * change a container. Reads the engine, changes nothing on it.
 *
 * Throws `config_invalid`, `conflict`, `path_escapes`, `render_failed`, `unsupported`,
 * `data_dir_unusable`, and what the source throws.
 */
export async function prepareRelease(
  parts: PipelineParts,
  target: ResolvedTarget,
  signal: AbortSignal,
): Promise<PreparedRelease> {
  const { source, key: instanceKey, options } = parts;
  const { deployment, revision, key } = target;
  const inputs = await composeInputs(source, revision, deployment, signal);
  for (const file of inputs.unused) {
    parts.log.info(`${file} is not used: ${inputs.composeFiles[0]} comes first`, {
      stack: key.name,
    });
  }
  target.progress("writing its files");
  const tree = await operation(
    parts,
    "materialise",
    () => source.materialise(revision, signal),
  );
  await requireInside(parts, tree, [
    deployment.workingDir,
    ...inputs.composeFiles,
    ...inputs.envFiles,
  ]);
  const realInputs = await realPaths(parts, tree, inputs.paths);
  const early = await revealInputs(parts, {
    revision,
    tree,
    paths: [...realInputs.values()],
    complete: inputs.complete,
  }, signal);
  const beside = await configurationFiles(parts, target, signal);
  const trees = { tree, configurationTree: beside?.tree };
  const dotenv = {
    envFiles: inputs.envFiles,
    ...(beside === undefined ? {} : { configurationEnvFiles: beside.envFiles }),
  };
  const variables = await variablesBesideFiles(parts, target, "/", envFilesIn(trees, dotenv));
  const invocation: ComposeInvocation = {
    environment: variables,
    ...dotenv,
    profiles: deployment.profiles,
    secretVariables: Object.keys(target.secrets),
  };
  const project = renderProject(target, trees, inputs.composeFiles, invocation);
  target.progress("rendering");
  await requireSafeInputs(parts, project, tree, variables, signal);
  const rendered = await operation(
    parts,
    "render",
    () => parts.compose.render({ project, variables }, signal),
  );
  await requireSafeModel(parts, target, rendered, tree);
  requireNoJobs(rendered, key.name);
  await requireHooksRun(rendered, key.name, () => parts.compose.version(signal));
  requirePlain(rendered, early);

  const uses = treeUses(rendered, tree);
  const realUses = await realPaths(parts, tree, uses.map((use) => use.path));
  const real = new Map([...realInputs, ...realUses]);
  const usedPaths = [...realUses.values()];
  const used = await parts.encrypted.reveal({ revision, tree, paths: usedPaths }, signal);
  const identities = new Map([...early.identities, ...used.identities]);
  const paths = [...new Set([...inputs.paths, ...real.values(), ...(hasLinks(real) ? ["."] : [])])];
  const ids = await contentIds(source, revision, paths, signal);
  const contents = await plainIds(source, revision, { ids, identities }, signal);
  const contentOf = (path: string) => contents.get(real.get(path) ?? path) ?? ABSENT;
  const inPlace = ignoredUses(rendered, uses);
  const live = livePaths(uses, inPlace.uses, (path) => contentOf(path) !== ABSENT);
  await requireMounts(parts, target, uses, contentOf);
  const ownLive = stackDirectories(options.dataDir, key).live;
  for (const use of uses) {
    if (use.kind !== "build" && live.isLive(use.path)) {
      await requireLiveInside(parts, ownLive, use.path);
    }
  }
  const stackDirectory = stackDirectories(options.hostDataDir, key).stack;
  const resources = await projectResources(parts, key.name, signal);
  const release = makeRelease({
    key,
    revision,
    ...(beside === undefined ? {} : { configuration: beside.revision }),
    target: target.configTarget,
    discovered: target.discovered !== undefined,
    rendered,
    invocation: withSecrets(invocation, rendered, [...early.secrets, ...used.secrets]),
    tree,
    stackDirectory,
    uses,
    inPlace,
    live,
    liveManifest: await liveManifest(parts, target, { live, identities }, signal),
    closure: {
      configuration: instanceKey.digest(
        configurationText(deployment, variablesOf(parts, target), options.hostDataDir),
      ),
      complete: inputs.complete,
      paths: Object.fromEntries(ids),
      ...(identities.size === 0 ? {} : { encrypted: [...identities.keys()].sort() }),
      ...(beside === undefined ? {} : { configurationPaths: beside.ids }),
    },
    foreignResources: resources.foreign,
    buildArguments: deployment.build.args,
    contentOf,
    digest: (text) => instanceKey.digest(text),
  });
  requireSameVolumes(release.model, resources.volumes);
  const placed = beside?.tree === undefined ? {} : { configurationTree: beside.tree };
  return { release, tree, ...placed, rendered };
}

/** The project as it is rendered: against the tree, from its files. */
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
  };
}

/** The directories a release reads. */
export interface Trees {
  readonly tree: string;
  /** That of its configuration, where something is read from another source. */
  readonly configurationTree?: string | undefined;
}

/**
 * Dotenv files as absolute paths, those beside the configuration first: later ones win. Without any,
 * an empty one keeps compose from picking `.env` by itself.
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

/** Refuses paths that links lead out of the tree: what is there belongs to the host, or to us. */
async function requireInside(
  parts: PipelineParts,
  tree: string,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    const real = await parts.files.realPath(join(tree, path));
    if (real === undefined) {
      throw new StackwrightError("config_invalid", `${path} does not exist in the repository`);
    }
    if (insideTree(real, await parts.files.realPath(tree) ?? tree) === undefined) {
      throw new StackwrightError("path_escapes", `${path} leads out of the repository`);
    }
  }
}

/**
 * Where each path really lies in the tree, links resolved; missing ones stay what they are. Throws
 * `path_escapes` for one that links lead out of the tree.
 */
async function realPaths(
  parts: PipelineParts,
  tree: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const root = await parts.files.realPath(tree) ?? tree;
  const found = new Map<string, string>();
  for (const path of new Set(paths)) {
    const real = await parts.files.realPath(join(tree, path));
    if (real === undefined) {
      found.set(path, path);
      continue;
    }
    if (insideTree(real, root) === undefined) {
      throw new StackwrightError("path_escapes", `${path} leads out of the repository`);
    }
    found.set(path, relative(root, real) || ".");
  }
  return found;
}

function hasLinks(real: ReadonlyMap<string, string>): boolean {
  return [...real].some(([path, found]) => path !== found);
}

/** Refuses a mount whose source is nowhere where its author said that it must exist. */
async function requireMounts(
  parts: PipelineParts,
  target: Target,
  uses: readonly TreeUse[],
  contentOf: (path: string) => string,
): Promise<void> {
  const live = stackDirectories(parts.options.dataDir, target.key).live;
  for (const use of uses) {
    if (!use.required || contentOf(use.path) !== ABSENT) continue;
    if (use.kind === "bind" && await parts.files.stat(join(live, use.path)) !== undefined) continue;
    throw new StackwrightError(
      "config_invalid",
      `service ${use.service}: ${use.kind} ${use.path} does not exist in the repository`,
    );
  }
}

async function liveManifest(
  parts: PipelineParts,
  target: Target,
  { live, identities }: {
    readonly live: LivePaths;
    readonly identities: ReadonlyMap<string, string>;
  },
  signal: AbortSignal,
): Promise<LiveManifest> {
  const files: Record<string, string> = {};
  for (const path of live.tracked) {
    for (const [file, entry] of await parts.source.list(target.revision, path, signal)) {
      files[file] = `${entry.kind}:${identities.get(file) ?? entry.id}`;
    }
  }
  return { files, directories: live.untracked };
}

/** Volumes of the project, and which of these and its networks somebody else made: without our labels. */
async function projectResources(parts: PipelineParts, name: string, signal: AbortSignal) {
  const project = { [COMPOSE_LABELS.project]: name };
  const [networks, volumes] = await Promise.all([
    parts.engine.listNetworks(project, signal),
    parts.engine.listVolumes(project, signal),
  ]);
  const foreign = [...networks, ...volumes].filter((each) =>
    each.labels[LABELS.manager] === undefined
  );
  return { volumes, foreign: new Set(foreign.map((each) => each.name)) };
}

function requireNoJobs(model: ComposeModel, name: string): void {
  const services = model["services"];
  for (const [service, definition] of Object.entries(services ?? {})) {
    const labels = labelsOf(definition as Record<string, unknown>);
    const job = labels["stackwright.job.enabled"] ?? labels["cd.doco.job.enabled"];
    if (job === "true") {
      throw new StackwrightError(
        "unsupported",
        `deployment ${name}: service ${service} is a scheduled job, which this version of Stackwright does not run yet`,
      );
    }
  }
}
