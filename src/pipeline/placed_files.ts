import { relative } from "node:path";
import { filesVolumes } from "../compose/mod.ts";
import {
  type ComposeStarts,
  findingOnce,
  type InjectedFile,
  injectedFiles,
  placedFiles,
  placeFiles,
  type ReleaseOnDisk,
  removePlacedFiles,
  stackDirectories,
  StackFiles,
  withPlainDollars,
} from "../deploy/mod.ts";
import {
  composeCall,
  hideSecrets,
  lacksTexts,
  placeBeside,
  requireApart,
  requireImages,
  requireSafeRelease,
  revealFiles,
  withValues,
} from "../prepare/mod.ts";
import {
  errors,
  isStackwrightError,
  messageOf,
  type Progress,
  type RunJob,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "../record/ledger.ts";
import { recordedOwner } from "../record/mod.ts";
import { firstOfEachDigest } from "./collect_trees.ts";
import type { DecidedRollout, PipelineParts } from "./parts.ts";
import { requireNothingForeign } from "./stack_owner.ts";

/** Actions that make or start containers. */
const STARTING: ReadonlySet<string> = new Set(["create", "recreate", "scale", "start"]);

/**
 * Copies the files that a release mounts to an engine that does not see the files of this process.
 * Changes nothing that runs. Throws what the engine throws.
 */
export async function placeReleaseFiles(
  { host: { engine, sharesFiles }, files, clock }: PipelineParts,
  { next, services, images = {}, progress }: Pick<
    DecidedRollout,
    "next" | "services" | "images" | "progress"
  >,
  signal: AbortSignal,
): Promise<void> {
  const { release, tree } = next;
  if (sharesFiles || release.swarm !== undefined) return;
  const starting = services.filter(({ action }) => STARTING.has(action)).map(({ name }) => name);
  const work = { release, tree, services: starting, images };
  await placeFiles({ engine, files, clock, progress }, work, signal);
}

type ToDisk = (
  parts: PipelineParts,
  recorded: RecordedRelease,
  signal: AbortSignal,
) => Promise<ReleaseOnDisk | undefined>;

/**
 * A recorded release with its tree on disk, checked again for safety, and for whose its volumes and
 * networks are by now; `undefined` where its tree cannot be had. Throws as {@link requireRules} does.
 */
export const bringToDisk: ToDisk = async (parts, recorded, signal) => {
  const onDisk = await placeOnDisk(parts, recorded, signal);
  if (onDisk === undefined) return undefined;
  await requireRules(parts, { ...onDisk, number: recorded.number }, signal);
  return onDisk;
};

interface Judged extends Pick<ReleaseOnDisk, "release"> {
  /** Its tree; without it, today's checks of paths are left out. */
  readonly tree?: string | undefined;
  /** Its number, for errors, where it was deployed before; else it was judged a moment ago. */
  readonly number?: number;
}

/**
 * Refuses a release that today's rules refuse, by whose its volumes and networks are, and by what its
 * mounts lead to. Throws as {@link requireNothingForeign} and {@link requireSafeRelease} do.
 */
async function requireRules(
  parts: PipelineParts,
  { release, tree, number }: Judged,
  signal: AbortSignal,
): Promise<void> {
  const { host } = parts;
  const looking = { ...parts, host: { ...host, engine: findingOnce(host.engine) } };
  await requireNothingForeign(looking, release, release.model, signal);
  if (tree !== undefined) await requireSafeRelease(looking, { release, tree }, number, signal);
}

/**
 * Refuses a release whose containers are about to be made, in any direction, or started, if it would be
 * refused today: it was judged before builds, waits for slots, or a release that failed, and containers
 * may have put links in the way of its mounts meanwhile. `starts`: what docker compose is to start.
 *
 * Throws as {@link requireApart}, {@link requireRules} and `StackFiles.requireInside` do.
 */
export async function requireAllowed(
  parts: PipelineParts,
  judged: Judged,
  signal: AbortSignal,
  starts?: ComposeStarts,
): Promise<void> {
  if (starts !== undefined) {
    const { key, model } = judged.release;
    await requireApart(parts, key.name, model, starts, signal);
  }
  await stackFiles(parts, judged.release.key).requireInside(judged.release);
  await requireRules(parts, judged, signal);
}

/** The current release on disk, to roll back to; `undefined` when that is impossible. */
export const bringBeforeToDisk: ToDisk = async (parts, recorded, signal) => {
  try {
    return await bringToDisk(parts, recorded, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isStackwrightError(error, "engine_unreachable")) throw error;
    notPutBack(parts, recorded, error);
    return undefined;
  }
};

/** Puts a release's tree on disk, decrypted. Throws what the source and {@link revealFiles} do. */
export async function placeTree(
  parts: PipelineParts,
  release: Judged["release"],
  signal: AbortSignal,
): Promise<string> {
  const tree = await parts.source.materialise(release.revision, signal);
  // In a new tree, encrypted files are still as they were committed.
  await revealFiles(parts, release, { tree }, signal);
  return tree;
}

const placeOnDisk: ToDisk = async (parts, recorded, signal) => {
  try {
    const release = parts.ledger.open(recorded);
    await hideSecrets(parts, release);
    const tree = await placeTree(parts, release, signal);
    const { configuration, invocation: { configurationEnvFiles: beside = [] } } = release;
    const besides = configuration === undefined || beside.length === 0
      ? undefined
      : await placeBeside(parts, configuration, beside, signal);
    const trees = { tree, ...(besides && { configurationTree: besides.tree }) };
    return { release: await withValues(parts, release, trees, signal), ...trees };
  } catch (error) {
    signal.throwIfAborted();
    notPutBack(parts, recorded, error);
    return undefined;
  }
};

function notPutBack(
  { log }: Pick<PipelineParts, "log">,
  { number, key: { name: stack, context } }: RecordedRelease,
  error: unknown,
): void {
  const text = `release ${number} cannot be put back if the next one fails: ${messageOf(error)}`;
  log.warning(text, { stack, context });
}

/** The files of a stack; every switch between trees is recorded in the ledger. */
export function stackFiles(
  { files, ledger, clock, options, host }: PipelineParts,
  key: StackKey,
): StackFiles {
  const { dataDir } = options;
  const directories = stackDirectories(dataDir, key);
  const mounted = stackDirectories(host.dataDir, key).live;
  const note = (tree: string) =>
    ledger.shownTrees.begin(key, relative(dataDir, tree), () => clock.now());
  const owner = () => recordedOwner(ledger, key);
  return new StackFiles(files, { ...directories, mounted }, note, owner);
}

/**
 * Refuses to start anything of a stack whose recorded release would not be brought back: whose
 * mounts lead elsewhere by what containers put there since, whose volumes are another stack's by
 * now, or that today's checks refuse. Asked for new containers and tasks, and for those that exist:
 * the engine follows the links anew. Asks nothing of a stack that has no release.
 *
 * With `needsFiles`, throws `source_invalid` when the files of the release cannot be had, and as
 * {@link revealFiles} does; without, what is started again has them already, and today's checks of
 * paths are left out then. Else throws as {@link requireAllowed} does.
 */
export async function requireStartable(
  parts: PipelineParts,
  key: StackKey,
  { needsFiles }: { readonly needsFiles: boolean },
  signal: AbortSignal,
): Promise<void> {
  const recorded = releaseOfContainers(parts.ledger, key);
  if (recorded === undefined) return;
  const { revision, number } = recorded;
  const release = parts.ledger.open(recorded);
  await hideSecrets(parts, release);
  const tree = await parts.source.materialise(revision, signal).catch((error) => {
    signal.throwIfAborted();
    if (needsFiles) throw withoutFiles(recorded, error);
    return undefined;
  });
  if (tree !== undefined && lacksTexts(release.closure)) {
    await revealFiles(parts, release, { tree, tolerant: !needsFiles }, signal);
  }
  await requireAllowed(parts, { release, tree, number }, signal);
}

/**
 * Makes sure that the image of a job is on the engine, where its release is recorded. Returns the
 * files to give its container. The caller asks {@link requireStartable} afterwards: pulling takes
 * any time.
 *
 * Throws `source_invalid` when the files of the release cannot be had, and before an image is pulled as
 * {@link requireRules} does.
 */
export async function readyJob(
  parts: PipelineParts,
  { key, service }: Pick<RunJob, "key" | "service">,
  progress: Progress,
  signal: AbortSignal,
): Promise<InjectedFile[]> {
  const recorded = releaseOfContainers(parts.ledger, key);
  if (recorded === undefined) return [];
  const placed = await placeOnDisk(parts, recorded, signal);
  if (placed === undefined) throw withoutFiles(recorded);
  progress("looking for its image");
  const services = [{ name: service, action: "create", because: ["its job runs"] }] as const;
  const { host, host: { images } } = parts;
  // Where nothing is pulled, the caller asks a moment later.
  const pull: typeof images.pull = async (wanted, within) => {
    if (wanted.services.length > 0) {
      await requireRules(parts, { ...placed, number: recorded.number }, within);
    }
    await images.pull(wanted, within);
  };
  const judging = { ...parts, host: { ...host, images: { ...images, pull } } };
  await requireImages(judging, placed, { services, progress, images: recorded.images }, signal);
  const { variables } = composeCall(parts, placed);
  return injectedFiles(withPlainDollars(placed.release.model), service, variables);
}

/** The release of a stack's containers: the current one, or the first, which is being deployed. */
function releaseOfContainers(ledger: Pick<Ledger, "current" | "history">, key: StackKey) {
  const current = ledger.current(key);
  if (current !== undefined) return current;
  const [newest] = ledger.history(key, 1);
  return newest?.status === "applying" ? newest : undefined;
}

function withoutFiles({ number, key }: RecordedRelease, cause?: unknown): StackwrightError {
  const why = cause === undefined ? "the log says why" : messageOf(cause);
  return errors.source_invalid(
    `the files of release ${number} of ${key.name} cannot be had, so nobody knows what its mounts ` +
      `lead to: ${why}. Nothing was started; bring its repository back, or deploy another commit`,
    { cause },
  );
}

/**
 * Removes copies of files that no release of a stack needs any more. The current release, those
 * before it whose files are kept (one at least), and those being deployed need theirs. Only warns,
 * so that a healthy release does not fail by it.
 */
export async function prunePlacedFiles(
  parts: PipelineParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const { host: { engine, sharesFiles }, ledger, log, options: { filesRetention } } = parts;
  if (sharesFiles || filesRetention === Infinity) return;
  try {
    if ((await placedFiles(engine, key, signal)).length === 0) return;
    const needed = neededReleases(parts, key, Math.max(1, filesRetention));
    const kept = needed.flatMap((each) => filesVolumes(ledger.open(each).model));
    await removePlacedFiles(engine, key, new Set(kept.map(({ name }) => name)), signal);
  } catch (error) {
    signal.throwIfAborted();
    const text = `copies of files were not removed: ${messageOf(error)}`;
    log.warning(text, { stack: key.name, context: key.context });
  }
}

function neededReleases(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
  previous: number,
): RecordedRelease[] {
  const isOwn = (each: RecordedRelease) =>
    each.key.name === key.name && each.key.context === key.context;
  const current = ledger.current(key);
  const before = ledger.history(key, (previous + 1) * 10)
    .filter(({ status, digest }) => status === "deployed" && digest !== current?.digest);
  return [
    ...ledger.releasesUnderWay().filter(isOwn),
    ...(current === undefined ? [] : [current]),
    ...firstOfEachDigest(before).slice(0, previous),
  ];
}
