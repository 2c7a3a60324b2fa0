import { discoverDirectories } from "../../config/mod.ts";
import {
  clip,
  type DeclaredDeployment,
  errors,
  partsOfPath,
  type Progress,
  type Revision,
} from "../../model/mod.ts";
import type { Discovery } from "../../plan/mod.ts";
import { within } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { deployedRevision, filesOf, type RequestOfRound } from "../resolve_revision.ts";

/** What a run that looks into discoveries tells of it. */
export interface Looks extends RequestOfRound {
  /** Revision at which the configuration was read. */
  readonly configuration: Revision;
  /** Names of the discoveries that are looked into at this moment. */
  readonly looking: Set<string>;
  readonly progress?: Progress | undefined;
}

/** Characters of a discovery's name, of which runs and the log tell. */
const MOST_NAMED = 300;

/** Name of a discovery among those of its configuration: those of one name wait for the same remote. */
export function discoveryName(
  { configuration }: Pick<Looks, "configuration">,
  { deployment }: DeclaredDeployment,
): string {
  const { workingDir, reference } = deployment;
  const place = filesOf({ declared: { deployment } }, configuration.source.name);
  const at = reference === "" ? "" : ` at ${reference}`;
  return clip(`${workingDir} of ${place}${at}`, MOST_NAMED);
}

/** Does work on a discovery, of which is told meanwhile: how long it takes is up to its repository's author. */
export async function lookingInto<T>(
  work: Looks,
  base: DeclaredDeployment,
  task: () => Promise<T>,
): Promise<T> {
  const { looking, progress } = work;
  const name = discoveryName(work, base);
  const tell = () => {
    if (looking.size > 0) progress?.(lookingText([...looking]));
  };
  looking.add(name);
  if (looking.size === 1) tell();
  try {
    return await task();
  } finally {
    looking.delete(name);
    // Of hundreds that end at once, only the last are told.
    if (looking.size <= MOST_TOLD) tell();
  }
}

const MOST_TOLD = 3;

/** Words for discoveries that are looked into. */
export function lookingText([first, ...more]: readonly string[]): string {
  const others = more.length > 0 ? `, and in ${more.length} more places` : "";
  return `looking for stacks in ${first}${others}`;
}

/** The revisions of discoveries, or why they were not reached, by {@link discoveryKey}. */
export type Reached = ReadonlyMap<string, PromiseSettledResult<Revision>>;

/** How long discoveries are waited for, and those that were waited for before. */
export interface Reaching {
  /** Milliseconds after which those that are not reached are left out; by default they are waited for. */
  readonly patience?: number | undefined;
  /** Names of those that an earlier run waits for, which are given {@link SHORT_MS} alone. */
  readonly waitedFor?: readonly string[] | undefined;
  readonly reached?: Reached | undefined;
}

/** Milliseconds that discoveries are waited for while an earlier run waits for them. */
const SHORT_MS = 5_000;

/** What tells discoveries of one configuration apart that are reached in different ways. */
export function discoveryKey({ deployment }: DeclaredDeployment): string {
  const { name, workingDir, repositoryUrl, reference, gitDepth } = deployment;
  return JSON.stringify([name, workingDir, repositoryUrl, reference, gitDepth]);
}

/**
 * Reaches discoveries side by side, and returns those that were reached in time; and how all of them ended, where
 * that comes later. Rejects with the signal's reason alone.
 */
export async function reachAll(
  parts: PipelineParts,
  { all, reached: before = new Map(), patience, waitedFor = [], ...work }: Looks & Reaching & {
    readonly all: readonly DeclaredDeployment[];
  },
  signal: AbortSignal,
): Promise<{ readonly reached: Reached; readonly late?: Promise<Reached> }> {
  const reached = new Map<string, PromiseSettledResult<Revision>>(before);
  const each = [...new Map(all.map((base) => [discoveryKey(base), base]))];
  const ends = each.map(async ([key, base]) => {
    if (before.has(key)) return;
    const look = () => lookingInto(work, base, () => reach(parts, { ...work, base }, signal));
    const [end] = await Promise.allSettled([look()]);
    reached.set(key, end);
  });
  const done = Promise.all(ends);
  const inTimeOf = ([, base]: typeof each[number], longest: number) =>
    waitedFor.includes(discoveryName(work, base)) ? Math.min(SHORT_MS, longest) : longest;
  const isWhole = patience === undefined || (await Promise.all(
    ends.map((end, at) => within(end, inTimeOf(each[at]!, patience), parts.clock, signal)),
  )).every(Boolean);
  if (isWhole) await done;
  signal.throwIfAborted();
  if (isWhole) return { reached };
  const inTime = new Map(reached);
  // What comes in time is reached anew by a second look: its commit may be another one by then.
  const late = done.then(() =>
    new Map(reached.entries().filter(([key]) => before.has(key) || !inTime.has(key)))
  );
  return { reached: inTime, late };
}

/**
 * The revision in which a discovery looks for stacks, when its directory has been reached: what submodules lie
 * on the way is fetched. Throws what the source throws, and `config_invalid` where there is no directory.
 */
async function reach(
  parts: PipelineParts,
  { base, ...work }: Omit<Looks, "looking"> & { readonly base: DeclaredDeployment },
  signal: AbortSignal,
): Promise<Revision> {
  const { deployment, deployment: { workingDir } } = base;
  const revision = await deployedRevision(parts, { ...work, deployment }, signal);
  const kind = (await parts.source.entries(revision, [workingDir], signal)).get(workingDir)?.kind;
  if (kind === "directory" || kind === "file" || kind === "executable") return revision;
  const why = kind === undefined ? "does not exist" : `is a ${kind}, which is not followed`;
  throw errors.config_invalid(
    `auto_discovery: the working_dir ${workingDir} ${why} in ${revision.source.name} at ` +
      `${revision.reference}; nothing was removed`,
  );
}

/** Finds the directories of stacks below a working directory that was reached, see {@link reach}. */
export async function lookInto(
  parts: PipelineParts,
  { base, revision, configuration }: Pick<Looks, "configuration"> & {
    readonly base: DeclaredDeployment;
    readonly revision: Revision;
  },
  signal: AbortSignal,
): Promise<Discovery["directories"]> {
  const { workingDir, composeFiles, autoDiscovery } = base.deployment;
  const isOwn = revision.source.name === configuration.source.name;
  return discoverDirectories(await parts.source.list(revision, workingDir, signal), {
    workingDir,
    depth: autoDiscovery.depth,
    composeFiles,
    ...(isOwn ? { configurationDir: parts.options.configBaseDir } : {}),
  });
}

/** The last part of a path or URL. */
export function lastPart(path: string): string {
  return partsOfPath(path.replace(/\.git$/, "")).at(-1) ?? "";
}
