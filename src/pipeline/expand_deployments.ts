import {
  discoverDirectories,
  duplicateStacks,
  expandDiscovery,
  type ExpandedDiscovery,
} from "../config/mod.ts";
import {
  type DeclaredDeployment,
  type DiscoveredStack,
  type Revision,
  type StackKey,
  stackKey,
  StackwrightError,
  toStackwrightError,
} from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { deployedRevision, type RequestOfRound } from "./resolve_revision.ts";

/** A deployment that is no discovery any more. */
export interface ExpandedDeployment {
  readonly declared: DeclaredDeployment;
  /** Where it was found, for one that was discovered. */
  readonly found?: {
    /** The revision that was listed: no other may be deployed. */
    readonly revision: Revision;
    readonly stack: DiscoveredStack;
  };
}

/** Something that cannot be deployed and keeps nothing else from it. */
export interface FailedExpansion {
  readonly key: StackKey;
  readonly revision: Revision;
  readonly error: StackwrightError;
}

/** A place that was looked into for stacks. */
export interface ScannedBase {
  readonly base: DeclaredDeployment;
  readonly revision: Revision;
}

/** All deployments of a run. */
export interface Expansion {
  readonly deployments: readonly ExpandedDeployment[];
  readonly failures: readonly FailedExpansion[];
  readonly scans: readonly ScannedBase[];
}

/** A configuration to expand. */
export interface ToExpand extends RequestOfRound {
  readonly declared: readonly DeclaredDeployment[];
  /** Where the configuration was read. */
  readonly configuration: Revision;
}

/** Deployments of one run: every one may have a thousand containers, and few lines make any number. */
const MOST_DEPLOYMENTS = 500;

/**
 * Replaces every auto-discovery among the deployments by what it finds. Listings
 * and overrides are read by object id; nothing is written to disk. What is wrong with one discovered
 * directory, or with one place to look into, is in the answer.
 *
 * Throws `config_invalid` when two stacks of the run have one name in a context, or when there are more
 * than {@link MOST_DEPLOYMENTS}.
 */
export async function expandDeployments(
  parts: PipelineParts,
  { request, round, declared, configuration }: ToExpand,
  signal: AbortSignal,
): Promise<Expansion> {
  requireFew(declared.length);
  const expansions = await Promise.all(
    declared.map((each) =>
      each.deployment.autoDiscovery.enabled
        ? discover(parts, { request, round, base: each, configuration }, signal)
        : { deployments: [{ declared: each }], failures: [], scans: [] }
    ),
  );
  const expansion: Expansion = {
    deployments: expansions.flatMap((each) => each.deployments),
    failures: expansions.flatMap((each) => each.failures),
    scans: expansions.flatMap((each) => each.scans),
  };
  requireFew(expansion.deployments.length);
  requireUnique(expansion.deployments);
  return expansion;
}

interface ToDiscover extends RequestOfRound {
  readonly base: DeclaredDeployment;
  readonly configuration: Revision;
}

async function discover(
  parts: PipelineParts,
  work: ToDiscover,
  signal: AbortSignal,
): Promise<Expansion> {
  const { base, configuration, request, round } = work;
  const { deployment } = base;
  try {
    const asked = { request, round, deployment, configuration };
    const revision = await deployedRevision(parts, asked, signal);
    const found = await lookInto(parts, { base, revision, configuration }, signal);
    return expansionOf(work, revision, found, parts);
  } catch (thrown) {
    signal.throwIfAborted();
    const where = `the auto-discovery in ${deployment.workingDir}`;
    const error = toStackwrightError(thrown, where);
    // Without a name of its own it is shown under that of the directory it looks into.
    const name = deployment.name || lastPart(deployment.workingDir) || lastPart(request.url);
    const key = stackKey(deployment.context, name);
    return { deployments: [], failures: [{ key, revision: configuration, error }], scans: [] };
  }
}

function expansionOf(
  { base, configuration, request }: ToDiscover,
  revision: Revision,
  found: ExpandedDiscovery,
  parts: PipelineParts,
): Expansion {
  const { context, autoDiscovery } = base.deployment;
  const { delete: remove, removeVolumes, removeImages } = autoDiscovery;
  const owner = {
    source: configuration.source.name,
    target: request.target,
    reference: configuration.reference,
  };
  for (const { message, file, path } of found.warnings) parts.log.warning(message, { file, path });
  return {
    deployments: found.stacks.map(({ declared, directory }) => ({
      declared,
      found: {
        revision,
        stack: {
          key: stackKey(declared.deployment.context, declared.deployment.name),
          owner,
          repository: revision.source.name,
          directory,
          policy: { delete: remove, removeVolumes, removeImages },
        },
      },
    })),
    failures: found.failures.map(({ name, error }) => ({
      key: stackKey(context, name),
      revision,
      error,
    })),
    scans: [{ base, revision }],
  };
}

/** Lists the working directory at a revision and makes deployments of what is there. */
async function lookInto(
  parts: PipelineParts,
  { base, revision, configuration }: ScannedBase & { readonly configuration: Revision },
  signal: AbortSignal,
): Promise<ExpandedDiscovery> {
  const { workingDir, composeFiles, autoDiscovery } = base.deployment;
  const kind = (await parts.source.entries(revision, [workingDir], signal)).get(workingDir)?.kind;
  if (kind !== "directory" && kind !== "file" && kind !== "executable") {
    throw cannotLookInto(workingDir, kind, revision);
  }
  const isOwn = revision.source.name === configuration.source.name;
  const directories = discoverDirectories(await parts.source.list(revision, workingDir, signal), {
    workingDir,
    depth: autoDiscovery.depth,
    composeFiles,
    ...(isOwn ? { configurationDir: parts.options.configBaseDir } : {}),
  });
  requireFew(directories.length);
  const overrides = new Map<string, string>();
  for (const { override } of directories) {
    if (override === undefined) continue;
    const bytes = await parts.source.read(revision, override, signal);
    if (bytes !== undefined) overrides.set(override, new TextDecoder().decode(bytes));
  }
  const rootName = lastPart(revision.source.name);
  return expandDiscovery(base, { directories, overrides, rootName });
}

function cannotLookInto(workingDir: string, kind: string | undefined, revision: Revision) {
  const why = kind === undefined ? "does not exist" : `is a ${kind}, which is not followed`;
  return new StackwrightError(
    "config_invalid",
    `auto_discovery: the working_dir ${workingDir} ${why} in ${revision.source.name} at ` +
      `${revision.reference}; nothing was removed`,
  );
}

function requireFew(count: number): void {
  if (count <= MOST_DEPLOYMENTS) return;
  throw new StackwrightError(
    "config_invalid",
    `the configuration means ${count} deployments, the most of one repository and reference is ` +
      `${MOST_DEPLOYMENTS}; nothing was changed, spread them over several targets or branches`,
  );
}

/** Names must be unique in a context, whoever brought them. */
function requireUnique(deployments: readonly ExpandedDeployment[]): void {
  const [twice] = duplicateStacks(deployments.map((each) => each.declared.deployment));
  if (twice === undefined) return;
  const places = twice.map((index) => {
    const { found, declared } = deployments[index] ?? {};
    return found?.stack.directory ?? declared?.deployment.workingDir;
  });
  const name = deployments[twice[0] ?? 0]?.declared.deployment.name;
  throw new StackwrightError(
    "config_invalid",
    `deployment ${name} is configured ${twice.length} times (in ${places.join(", ")}); ` +
      `names must be unique in a context`,
  );
}

function lastPart(path: string): string {
  return path.replace(/\.git$/, "").split("/").filter((part) => part !== "" && part !== ".")
    .at(-1) ?? "";
}
