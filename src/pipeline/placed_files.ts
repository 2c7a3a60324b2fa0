import { filesVolumes } from "../compose/mod.ts";
import { placedFiles, placeFiles, type ReleaseOnDisk, removePlacedFiles } from "../deploy/mod.ts";
import { hideSecrets, placeBeside, requireSafeRelease, withValues } from "../prepare/mod.ts";
import { isStackwrightError, messageOf, type StackKey } from "../model/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
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

/**
 * A recorded release with its tree on disk, checked again for safety, and for whose its volumes and
 * networks are by now; `undefined` when its tree can neither be found nor fetched. Throws as
 * {@link requireSafeRelease} and {@link requireNothingForeign} do.
 */
export async function bringToDisk(
  parts: PipelineParts,
  recorded: RecordedRelease,
  signal: AbortSignal,
): Promise<ReleaseOnDisk | undefined> {
  const onDisk = await placeOnDisk(parts, recorded, signal);
  if (onDisk === undefined) return undefined;
  await requireSafeRelease(parts, onDisk, recorded.number, signal);
  await requireNothingForeign(parts, recorded, onDisk.release.model, signal);
  return onDisk;
}

/** The current release on disk, to roll back to; `undefined` when that is impossible. */
export async function bringBeforeToDisk(
  parts: PipelineParts,
  recorded: RecordedRelease,
  signal: AbortSignal,
): Promise<ReleaseOnDisk | undefined> {
  try {
    return await bringToDisk(parts, recorded, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isStackwrightError(error, "engine_unreachable")) throw error;
    notPutBack(parts, recorded, error);
    return undefined;
  }
}

async function placeOnDisk(
  parts: PipelineParts,
  recorded: RecordedRelease,
  signal: AbortSignal,
): Promise<ReleaseOnDisk | undefined> {
  try {
    const { revision } = recorded;
    const tree = await parts.source.materialise(revision, signal);
    const release = parts.ledger.open(recorded);
    const { closure } = release;
    hideSecrets(parts, release);
    // In a new tree, encrypted files are still as they were committed.
    await parts.encrypted.reveal({ revision, tree, paths: closure.encrypted ?? [] }, signal);
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
}

function notPutBack(
  { log }: Pick<PipelineParts, "log">,
  { number, key: { name: stack, context } }: RecordedRelease,
  error: unknown,
): void {
  const text = `release ${number} cannot be put back if the next one fails: ${messageOf(error)}`;
  log.warning(text, { stack, context });
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
