import { expandDiscovery, type ExpandedDiscovery } from "../config/mod.ts";
import {
  type DeclaredDeployment,
  type DiscoveredStack,
  type DiscoveryOwner,
  formatStackKey,
  type Problem,
  type Revision,
  type SourceRequest,
  type StackKey,
  stackKey,
  toStackwrightError,
  utf8,
} from "../model/mod.ts";
import type { Target } from "../prepare/mod.ts";
import { sourceAsOwner } from "../system/mod.ts";
import { type Discovery, FairDiscoveries, MOST_OVERRIDES, requireFew } from "../plan/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { type ExpandedDeployment, type Expansion, keyOf } from "./source/expansion.ts";
import {
  discoveryKey,
  discoveryName,
  lastPart,
  lookingInto,
  lookInto,
  type Looks,
  reachAll,
  type Reaching,
} from "./source/look_into.ts";
import { withoutDuplicates } from "./source/without_duplicates.ts";

export * from "./source/expansion.ts";

interface ToExpand extends Omit<Looks, "looking">, Reaching {
  readonly declared: readonly DeclaredDeployment[];
}

/**
 * Replaces every auto-discovery among the deployments by what it finds, but for those that take longer
 * than the `patience`. All are reached side by side: how long that takes is up to the authors of their
 * repositories. Listings and overrides are read by object id; nothing is written to disk. Faults of
 * single discovered directories, or of single places to search, are returned as `failures`: a discovered
 * stack with the name of another one of the run, and discoveries that find more than a run may have
 * ({@link FairDiscoveries}). Who may add a directory to another repository must not stop the stacks that
 * are written down.
 *
 * Throws `config_invalid` when two deployments that are written down have one name in a context, or
 * when there are too many of them.
 */
export async function expandDeployments(
  parts: PipelineParts,
  { declared, progress, ...rest }: ToExpand,
  signal: AbortSignal,
): Promise<Expansion> {
  requireFew(declared.length);
  let isTold = true;
  const told = progress && ((text: string) => void (isTold && progress(text)));
  const work = { ...rest, looking: new Set<string>(), progress: told };
  const written = declared.filter(({ deployment }) => !deployment.autoDiscovery.enabled);
  const found = new FairDiscoveries(written.length);
  const all = declared.filter(({ deployment }) => deployment.autoDiscovery.enabled);
  const { reached, late } = await reachAll(parts, { ...work, all }, signal);
  const left = new Set(all.filter((base) => !reached.has(discoveryKey(base))));
  // In order, so that the same are given up each time; a listing may have 200,000 entries.
  const looked: (Discovery | Expansion)[] = [];
  for (const base of declared.filter((each) => !left.has(each))) {
    const revision = all.includes(base) ? reached.get(discoveryKey(base)) : undefined;
    if (revision === undefined) looked.push({ deployments: [{ declared: base }], ...NOTHING });
    else looked.push(await discover(parts, { ...work, found, base, revision }, signal));
  }
  for (const each of found.kept) {
    const read = () => readOverrides(parts, { ...work, found, each }, signal);
    await lookingInto(work, each.base, read);
  }
  const expansions = looked.map((each) =>
    "directories" in each ? expansionOf(parts, { ...work, each }) : each
  );
  const { kept: deployments, failures } = withoutDuplicates(expansions, work);
  isTold = false;
  return {
    deployments,
    failures: [...expansions.flatMap((each) => each.failures), ...failures],
    scans: expansions.flatMap((each) => each.scans),
    left: [...left].map((base) => discoveryName(work, base)),
    ...late && { late },
  };
}

const NOTHING = { failures: [], scans: [], left: [] };
interface ToDiscover extends Looks {
  readonly base: DeclaredDeployment;
  readonly found: FairDiscoveries;
  /** The revision to search, or why it is not known. */
  readonly revision: PromiseSettledResult<Revision>;
}

/** A discovery with a part of the work that it belongs to. */
interface OfDiscovery extends Omit<Looks, "looking"> {
  readonly each: Discovery;
}

/** Finds the stacks below a working directory; an expansion without any where that fails. */
async function discover(
  parts: PipelineParts,
  work: ToDiscover,
  signal: AbortSignal,
): Promise<Discovery | Expansion> {
  const { base, revision: asked } = work;
  try {
    if (asked.status === "rejected") throw asked.reason;
    const at = { base, revision: asked.value };
    const look = () => lookInto(parts, { ...work, ...at }, signal);
    const directories = await lookingInto(work, base, look);
    return work.found.add({ ...at, directories, bytes: 0 });
  } catch (thrown) {
    signal.throwIfAborted();
    return failed(work, base, thrown);
  }
}

function failed(
  { configuration, request }: Pick<ToDiscover, "configuration" | "request">,
  { deployment: { name: given, workingDir, context } }: DeclaredDeployment,
  thrown: unknown,
): Expansion {
  const error = toStackwrightError(thrown, `the auto-discovery in ${workingDir}`);
  // A discovery without a name is reported under the name of the directory it searches.
  const name = given || lastPart(workingDir) || lastPart(request.url);
  const key = stackKey(context, name);
  return { ...NOTHING, deployments: [], failures: [{ key, revision: configuration, error }] };
}

/** Names of compose files that are noted with each stack that a discovery found. */
const MOST_NAMES = 20;

function expansionOf(parts: PipelineParts, work: OfDiscovery): Expansion {
  const { configuration, request, each: { base, revision, error, expanded } } = work;
  if (error !== undefined || expanded === undefined) return failed(work, base, error);
  // They quote overrides, whose texts belong to the configuration.
  warnOf(parts, configuration, expanded.warnings);
  const { context, autoDiscovery, composeFiles, composeFilesGiven } = base.deployment;
  const owner = discoveryOwner(configuration, request);
  const known = {
    owner,
    repository: revision.source.name,
    ...(composeFilesGiven && { files: composeFiles.slice(0, MOST_NAMES) }),
    policy: removalPolicy(autoDiscovery),
  };
  return {
    deployments: expanded.stacks.map(({ declared, directory }) => {
      const stack = { key: keyOf({ declared }), directory, ...known };
      return { declared, found: { revision, stack } };
    }),
    failures: expanded.failures.map(({ name, error }) => {
      return { key: stackKey(context, name), revision, error };
    }),
    scans: [{ base, revision }],
    left: [],
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

/** The stacks that a run names, those included that it cannot tell more of. */
export function namedIn(
  { deployments, failures }: Pick<Expansion, "deployments" | "failures">,
): StackKey[] {
  return [...deployments.map(keyOf), ...failures.map(({ key }) => key)];
}

/** What a configuration names, and what it named once: one of those may be what a new stack was before. */
export function neighboursOf(
  { ledger }: Pick<PipelineParts, "ledger">,
  { request, configuration, expansion }: {
    readonly request: SourceRequest;
    readonly configuration: Revision;
    readonly expansion: Expansion;
  },
): NonNullable<Target["neighbours"]> {
  const { deployments, failures, left } = expansion;
  const named = namedIn(expansion);
  const names = new Set(named.map(formatStackKey));
  const known = ledger.discovered.of(discoveryOwner(configuration, request));
  const unnamed = known.filter(({ key }) => !names.has(formatStackKey(key)));
  const complete = failures.length + left.length === 0;
  return { named, unnamed, wanted: wantedOf(deployments), complete };
}

/** The stacks that deployments are to make, and not to destroy. */
export function wantedOf(deployments: readonly ExpandedDeployment[]): StackKey[] {
  return deployments.filter((each) => !each.declared.deployment.destroy.enabled).map(keyOf);
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

/** Makes deployments of what a discovery found, unless it is given up meanwhile. */
async function readOverrides(
  parts: PipelineParts,
  { each, found, configuration }: OfDiscovery & Pick<ToDiscover, "found">,
  signal: AbortSignal,
): Promise<void> {
  const { base, revision, directories } = each;
  const isElsewhere = revision.source.name !== configuration.source.name;
  const rootName = lastPart(revision.source.name);
  const expanded: ExpandedDiscovery[] = [];
  // Overrides belong to the configuration that looks for them, which may name any commit.
  const owner = sourceAsOwner(configuration.source.name);
  const read = (path: string) => parts.source.read(revision, path, signal, MOST_OVERRIDES, owner);
  try {
    // One after the other: reading an override may take 0.1 s, and there may be hundreds.
    for (const directory of directories) {
      if (each.error !== undefined) return;
      const { override } = directory;
      const bytes = override && await read(override);
      const overrides = new Map(override && bytes ? [[override, utf8(bytes)]] : []);
      if (bytes) found.countOverride(each, bytes);
      const findings = { directories: [directory], overrides, rootName, isElsewhere };
      expanded.push(await parts.turns.take(() => expandDiscovery(base, findings), signal));
    }
  } catch (thrown) {
    signal.throwIfAborted();
    each.error = toStackwrightError(thrown, `the auto-discovery in ${base.deployment.workingDir}`);
    return;
  }
  if (each.error !== undefined) return;
  each.expanded = {
    stacks: expanded.flatMap((one) => one.stacks),
    failures: expanded.flatMap((one) => one.failures),
    warnings: expanded.flatMap((one) => one.warnings),
  };
}
