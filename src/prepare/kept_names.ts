import type { Engine } from "../docker/engine.ts";
import { isKeptName, isStackwrightError, keptName, messageOf } from "../model/mod.ts";
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

/** Removes our names from images that have another. A failure keeps images longer, which is harmless. */
export async function letNamedGo(
  { engine, log }: { readonly engine: KeepingEngine; readonly log: Log },
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (ids.length === 0) return;
  try {
    for (const { id, tags } of await engine.listImages(signal)) {
      const isNamed = tags.some((tag) => !isKeptName(tag));
      if (isNamed && ids.includes(id)) await engine.removeImage(keptName(id), signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    log.debug(`images keep names that they need no more: ${messageOf(error)}`);
  }
}
