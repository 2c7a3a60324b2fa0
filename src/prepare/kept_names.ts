import type { Engine } from "../docker/engine.ts";
import { foundName, isStackwrightError, keptName, messageOf } from "../model/mod.ts";
import type { Log } from "../system/mod.ts";

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

/**
 * Does something that pulls images, and gives those of them a name of ours that were there before without a
 * digest, as a person builds or loads them: from now on they look like pulled ones, which may be pruned.
 */
export async function namingFound(
  engine: KeepingEngine,
  references: readonly string[],
  pulls: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const there = (await engine.listImages(signal)).filter(({ digests }) => digests.length === 0);
  const theirs = new Set(there.map(({ id }) => id));
  try {
    await pulls();
  } finally {
    // Also where it failed in the end: one of several may have been pulled.
    for (const each of theirs.size === 0 ? [] : new Set(references)) {
      const id = await engine.imageId(each, signal);
      if (id !== undefined && theirs.has(id)) await engine.tagImage(id, foundName(id), signal);
    }
  }
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
