import {
  discoverDirectories,
  duplicateStacks,
  expandDiscovery,
  type ExpandedDiscovery,
} from "../config/mod.ts";
import {
  type DeclaredDeployment,
  type DiscoveredStack,
  type DiscoveryOwner,
  errors,
  formatStackKey,
  type Problem,
  type Revision,
  type SourceRequest,
  type StackKey,
  stackKey,
  type StackwrightError,
  toStackwrightError,
  utf8,
} from "../model/mod.ts";
import { createKeyedLock, type KeyedLock } from "../system/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { deployedRevision, type RequestOfRound } from "./resolve_revision.ts";

/** A deployment after auto-discovery was expanded. */
export interface ExpandedDeployment {
  readonly declared: DeclaredDeployment;
  /** Set for a discovered deployment. */
  readonly found?: {
    /** The revision in which it was discovered: no other may be deployed. */
    readonly revision: Revision;
    readonly stack: DiscoveredStack;
  };
}

/** The stack of a deployment. */
export function keyOf({ declared: { deployment } }: ExpandedDeployment): StackKey {
  return stackKey(deployment.context, deployment.name);
}

/** A deployment that could not be expanded; the others go on without it. */
export interface FailedExpansion {
  readonly key: StackKey;
  readonly revision: Revision;
  readonly error: StackwrightError;
}

/** A directory that was searched for stacks. */
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
interface ToExpand extends RequestOfRound {
  readonly declared: readonly DeclaredDeployment[];
  /** Revision at which the configuration was read. */
  readonly configuration: Revision;
}

/** Deployments of one run: each may have a thousand containers, and few lines make many. */
const MOST_DEPLOYMENTS = 500;

/**
 * Replaces every auto-discovery among the deployments by what it finds. Listings and overrides are
 * read by object id; nothing is written to disk. Faults of single discovered directories, or of
 * single places to search, are returned as `failures`: a discovered stack with the name of another
 * one of the run, and a discovery that finds more than {@link MOST_DEPLOYMENTS}. Who may add a
 * directory to another repository must not stop the stacks that are written down.
 *
 * Throws `config_invalid` when two deployments that are written down have one name in a context, or
 * when there are more than {@link MOST_DEPLOYMENTS} of them.
 */
export async function expandDeployments(
  parts: PipelineParts,
  { declared, ...work }: ToExpand,
  signal: AbortSignal,
): Promise<Expansion> {
  requireFew(declared.length);
  const written = declared.filter(({ deployment }) => !deployment.autoDiscovery.enabled);
  const found = { stacks: written.length, bytes: 0, turns: createKeyedLock() };
  const expand = (base: DeclaredDeployment) =>
    base.deployment.autoDiscovery.enabled
      ? discover(parts, { ...work, base, found }, signal)
      : { deployments: [{ declared: base }], failures: [], scans: [] };
  const expansions = await Promise.all(declared.map(expand));
  const { kept, failures } = withoutDuplicates(expansions, work.configuration);
  return {
    deployments: kept,
    failures: [...expansions.flatMap((each) => each.failures), ...failures],
    scans: expansions.flatMap((each) => each.scans),
  };
}

/** Totals over all discoveries of a run so far. */
interface Found {
  stacks: number;
  /** Bytes of all overrides. */
  bytes: number;
  /** One listing at a time is in memory: it may have 200,000 entries. */
  readonly turns: KeyedLock;
}

interface ToDiscover extends RequestOfRound {
  readonly base: DeclaredDeployment;
  readonly found: Found;
  readonly configuration: Revision;
}

async function discover(
  parts: PipelineParts,
  work: ToDiscover,
  signal: AbortSignal,
): Promise<Expansion> {
  const { base, base: { deployment }, configuration, request } = work;
  try {
    const revision = await deployedRevision(parts, { ...work, deployment }, signal);
    const place = { base, revision, configuration, found: work.found };
    const expanded = await work.found.turns.run("", () => lookInto(parts, place, signal), signal);
    // They quote what lies in the searched repository.
    warnOf(parts, revision, expanded.warnings);
    return expansionOf(work, revision, expanded);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toStackwrightError(thrown, `the auto-discovery in ${deployment.workingDir}`);
    // A discovery without a name is reported under the name of the directory it searches.
    const name = deployment.name || lastPart(deployment.workingDir) || lastPart(request.url);
    const key = stackKey(deployment.context, name);
    return { deployments: [], failures: [{ key, revision: configuration, error }], scans: [] };
  }
}

function expansionOf(
  { base, configuration, request }: ToDiscover,
  revision: Revision,
  found: ExpandedDiscovery,
): Expansion {
  const { context, autoDiscovery } = base.deployment;
  const owner = discoveryOwner(configuration, request);
  const known = { owner, repository: revision.source.name, policy: removalPolicy(autoDiscovery) };
  return {
    deployments: found.stacks.map(({ declared, directory }) => {
      const stack = { key: keyOf({ declared }), directory, ...known };
      return { declared, found: { revision, stack } };
    }),
    failures: found.failures.map(({ name, error }) => {
      return { key: stackKey(context, name), revision, error };
    }),
    scans: [{ base, revision }],
  };
}

/** Logs the warnings about a configuration, each with its position. */
export function warnOf(
  { log }: PipelineParts,
  { source: { name: repository } }: Revision,
  problems: readonly Problem[],
): void {
  for (const { message, file, path } of problems) log.warning(message, { file, path, repository });
}

/**
 * The configuration in whose name stacks are deployed. Inline deployments of polls have one of
 * their own, since the configuration file does not name them; no target can have its name.
 */
export function discoveryOwner(
  { source, reference }: Revision,
  { target, deployments }: Pick<SourceRequest, "target" | "deployments">,
): DiscoveryOwner {
  const own = deployments.length === 0 ? target : `${target}#polls`;
  return { source: source.name, target: own, reference };
}

/** What is removed with a discovered stack once nothing names it any more. */
export function removalPolicy(
  { delete: remove, removeVolumes, removeImages }: NonNullable<DiscoveredStack["policy"]>,
): NonNullable<DiscoveredStack["policy"]> {
  return { delete: remove, removeVolumes, removeImages };
}

/** Finds the stacks below a working directory at a revision and makes deployments of them. */
async function lookInto(
  parts: PipelineParts,
  { base, revision, configuration, found }:
    & ScannedBase
    & Pick<ToDiscover, "configuration" | "found">,
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
  requireFew(found.stacks + directories.length);
  found.stacks += directories.length;
  const rootName = lastPart(revision.source.name);
  const expanded: ExpandedDiscovery[] = [];
  // One after the other: reading an override may take 0.1 s, and there may be hundreds.
  for (const directory of directories) {
    const { override } = directory;
    const bytes = override && await parts.source.read(revision, override, signal, MOST_OVERRIDES);
    const overrides = new Map(override && bytes ? [[override, utf8(bytes)]] : []);
    if (bytes) requireShort(found, bytes);
    const findings = { directories: [directory], overrides, rootName, isElsewhere: !isOwn };
    const expand = () => expandDiscovery(base, findings);
    expanded.push(await parts.turns.take(expand, signal));
  }
  return {
    stacks: expanded.flatMap((each) => each.stacks),
    failures: expanded.flatMap((each) => each.failures),
    warnings: expanded.flatMap((each) => each.warnings),
  };
}

/** Most bytes of the overrides of all stacks that a run discovers. */
const MOST_OVERRIDES = 4 * 1024 * 1024;

function requireShort(found: Found, { length }: Uint8Array): void {
  found.bytes += length;
  if (found.bytes > MOST_OVERRIDES) {
    throw errors.config_invalid(
      `the overrides of all discovered stacks have more than ${MOST_OVERRIDES} bytes; nothing was ` +
        "changed, spread the stacks over several targets or branches",
    );
  }
}

function cannotLookInto(workingDir: string, kind: string | undefined, revision: Revision) {
  const why = kind === undefined ? "does not exist" : `is a ${kind}, which is not followed`;
  return errors.config_invalid(
    `auto_discovery: the working_dir ${workingDir} ${why} in ${revision.source.name} at ` +
      `${revision.reference}; nothing was removed`,
  );
}

function requireFew(count: number): void {
  if (count <= MOST_DEPLOYMENTS) return;
  throw errors.config_invalid(
    `the configuration means ${count} deployments, the most of one repository and reference is ` +
      `${MOST_DEPLOYMENTS}; nothing was changed, spread them over several targets or branches`,
  );
}

/**
 * The deployments of a run whose names are unique in their context, and failures of those that have
 * the name of another one. What is written down stays, else what the configuration's own repository
 * has, else none. Throws `config_invalid` for a name that is written down twice.
 */
function withoutDuplicates(
  expansions: readonly Expansion[],
  { source }: Revision,
): { readonly kept: ExpandedDeployment[]; readonly failures: FailedExpansion[] } {
  const all = expansions.flatMap((each) =>
    each.deployments.map((deployment) => ({ ...deployment, base: each.scans[0]?.base.deployment }))
  );
  const failed = new Set<number>();
  const failures = new Map<string, FailedExpansion>();
  for (const twice of duplicateStacks(all.map((each) => each.declared.deployment))) {
    const places = twice.map((index) => placeOf(all[index]));
    const error = errors.config_invalid(
      `deployment ${all[twice[0] ?? 0]?.declared.deployment.name} is configured ${twice.length} ` +
        `times (in ${places.join(", ")}); names must be unique in a context`,
    );
    const written = twice.filter((index) => all[index]?.found === undefined);
    if (written.length > 1) throw error;
    const own = twice.filter((index) => all[index]?.found?.revision.source.name === source.name);
    const stays = written[0] ?? (own.length === 1 ? own[0] : undefined);
    for (const index of twice.filter((each) => each !== stays)) {
      const { base, found, declared } = all[index] ?? {};
      if (found === undefined || declared === undefined) continue;
      // Told under the name of the searched directory, unless nobody else is told under its own.
      const place = base && (base.name || lastPart(base.workingDir));
      const name = stays === undefined || !place ? declared.deployment.name : place;
      const key = stackKey(declared.deployment.context, name);
      failed.add(index);
      failures.set(`${formatStackKey(key)} ${error.message}`, {
        key,
        revision: found.revision,
        error,
      });
    }
  }
  const kept = all.filter((_, index) => !failed.has(index)).map(({ base: _, ...each }) => each);
  return { kept, failures: [...failures.values()] };
}

function placeOf(deployment: ExpandedDeployment | undefined): string | undefined {
  return deployment?.found?.stack.directory ?? deployment?.declared.deployment.workingDir;
}

function lastPart(path: string): string {
  return path.replace(/\.git$/, "").split("/").filter((part) => part !== "" && part !== ".")
    .at(-1) ?? "";
}
