import type { Engine } from "../docker/engine.ts";
import { errors, foundName, isStackwrightError, keptName, messageOf } from "../model/mod.ts";
import { abortable, type Clock, type Log, withDeadline } from "../system/mod.ts";

/** Calls of an engine for keeping images. */
export type KeepingEngine = Pick<
  Engine,
  "imageId" | "info" | "listImages" | "removeImage" | "tagImage"
>;

/**
 * Keeps images whose names a build may take, on an engine that drops unnamed images: running ones,
 * those for a rollback, and new ones. Returns those that got a name of ours; missing images get none.
 */
export async function keepImages(
  engine: KeepingEngine,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const kept: string[] = [];
  if (ids.length === 0 || (await engine.info(signal)).keepsUnnamed) return kept;
  for (const id of new Set(ids)) {
    if (await engine.imageId(keptName(id), signal) === id) continue;
    try {
      await engine.tagImage(id, keptName(id), signal);
      kept.push(id);
    } catch (error) {
      if (!isStackwrightError(error, "engine_refused")) throw error;
    }
  }
  return kept;
}

/** Notes of images that were there without a registry when a pull began, until these have names of ours. */
export interface PullNotes {
  /** Notes images; call what it returns when the pull has ended, in whichever way. */
  begin(images: readonly string[]): () => void;
  /** What is noted of pulls; `isOver` where one has ended, also with its process. */
  all(): readonly {
    readonly id: number;
    readonly images: readonly string[];
    readonly isOver: boolean;
  }[];
  forget(id: number): void;
}

/** Parts for naming images that a pull has found. */
export interface NamingParts {
  readonly engine: Pick<KeepingEngine, "listImages" | "tagImage">;
  readonly pulls: PullNotes;
}

/**
 * Does something that pulls images, and gives those of them a name of ours that were there before without a
 * digest, as a person builds or loads them: from now on they look like pulled ones, which may be pruned. An engine
 * that does not list its images soon keeps nobody from pulling: anybody's labels make that list long. What it does
 * not list is not removed either, for as long as that lasts.
 */
export async function namingFound(
  parts: NamingParts & { readonly clock: Clock; readonly log: Log },
  pull: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const there = await listedSoon(parts, async (soon) => {
    await nameFound(parts, soon);
    return (await parts.engine.listImages(soon)).filter(({ digests }) => digests.length === 0);
  }, signal);
  if (there === undefined || there.length === 0) return await pull();
  const end = parts.pulls.begin(there.map(({ id }) => id));
  try {
    await pull();
  } finally {
    end();
    // Also where it failed in the end: one of several may have been pulled.
    await listedSoon(parts, (soon) => nameFound(parts, soon), signal);
  }
}

/** Milliseconds that a list of all images is waited for before a pull, and after it. */
const SOON_MS = 20_000;

/** What a list of all images is asked for; `undefined`, and a word in the log, where that fails or takes long. */
async function listedSoon<T>(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  ask: (soon: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const late = () =>
    errors.timeout(`the engine has not listed its images within ${SOON_MS / 1000} s`);
  const soon = { clock, milliseconds: SOON_MS, late };
  try {
    return await withDeadline(soon, (within) => abortable(ask(within), within), signal);
  } catch (error) {
    signal.throwIfAborted();
    log.warning(`images that are there already are not noted before a pull: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * Names what pulls have found so far, also those of others and what was cut off. Call it before images are looked
 * for which may be removed.
 */
export async function nameFound(
  { engine, pulls }: NamingParts,
  signal: AbortSignal,
): Promise<void> {
  const noted = pulls.all();
  if (noted.length === 0) return;
  const found = new Set(noted.flatMap(({ images }) => images));
  const now = await engine.listImages(signal);
  for (const { id } of now.filter(({ id, digests }) => digests.length > 0 && found.has(id))) {
    await engine.tagImage(id, foundName(id), signal);
  }
  for (const { id } of noted.filter(({ isOver }) => isOver)) pulls.forget(id);
}

/**
 * Removes names of ours that `isOver` finds needless from images that have another: it gets each name with all of
 * its image. A failure keeps images longer, which is harmless.
 */
export async function letNamedGo(
  { engine, log }: { readonly engine: KeepingEngine; readonly log: Log },
  isOver: (name: string, names: readonly string[]) => boolean,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const { tags } of await engine.listImages(signal)) {
      const goes = tags.filter((tag) => isOver(tag, tags));
      if (goes.length === tags.length) continue;
      for (const name of goes) await engine.removeImage(name, signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    log.debug(`images keep names that they need no more: ${messageOf(error)}`);
  }
}
