import type { Engine } from "../docker/engine.ts";
import { isStackwrightError, keptName, messageOf } from "../model/mod.ts";
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
