import { destroyStack, observe, stackDirectories, StackFiles } from "../deploy/mod.ts";
import { LABELS, MANAGER, type StackKey, StackwrightError } from "../model/mod.ts";
import type { Intent } from "../record/ledger.ts";
import type { PipelineParts } from "./parts.ts";

/** What a destroy removes besides containers and networks. */
export type DestroyWhat = {
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
};

/**
 * Removes a stack from the engine, the disk and the list of current releases; its history stays.
 * Returns false when there was nothing.
 *
 * Throws `conflict` when its containers were deployed from elsewhere, or by nobody of ours.
 */
export async function destroyTarget(
  parts: PipelineParts,
  key: StackKey,
  sourceName: string,
  what: DestroyWhat,
  signal: AbortSignal,
): Promise<boolean> {
  const observed = await observe(parts.engine, key, signal);
  const recorded = parts.ledger.current(key);
  if (observed.containers.length === 0 && recorded === undefined) return false;
  // Without containers the volumes are all that is left, and their labels are not looked at.
  const owner = observed.containers.length === 0 ? recorded?.revision.source.name : sourceName;
  if (owner !== undefined && owner !== sourceName) {
    throw new StackwrightError(
      "conflict",
      `${key.name} is not destroyed: it was deployed from ${owner}, not from ${sourceName}`,
    );
  }
  const foreign = observed.containers.find((each) =>
    each.labels[LABELS.manager] !== MANAGER || each.labels[LABELS.sourceName] !== sourceName
  );
  if (foreign !== undefined) {
    const owner = foreign.labels[LABELS.sourceName] ?? "nobody Stackwright knows";
    throw new StackwrightError(
      "conflict",
      `${key.name} is not destroyed: its container ${foreign.name} belongs to ${owner}, not to ${sourceName}`,
    );
  }
  const intent = parts.ledger.beginDestroy(key, { ...what });
  await finishDestroy(parts, intent, signal);
  return true;
}

/**
 * Destroys a stack because a person said so, whatever its source says. The caller holds its lock.
 * Returns false when the ledger knows nothing that runs under that name.
 */
export async function destroyRecorded(
  parts: PipelineParts,
  key: StackKey,
  what: DestroyWhat,
  signal: AbortSignal,
): Promise<boolean> {
  if (parts.ledger.current(key) === undefined) return false;
  await finishDestroy(parts, parts.ledger.beginDestroy(key, { ...what }), signal);
  return true;
}

/** Carries out a destroy that is written down; may be called again after an interruption. */
export async function finishDestroy(
  parts: PipelineParts,
  intent: Intent,
  signal: AbortSignal,
): Promise<void> {
  const { key, options } = intent;
  const services = parts.ledger.current(key)?.services ?? [];
  await destroyStack(parts.engine, {
    key,
    removeVolumes: options["removeVolumes"] === true,
    removeImages: options["removeImages"] === true,
    dependsOn: Object.fromEntries(services.map((each) => [each.name, each.dependsOn])),
  }, signal);
  await new StackFiles(parts.files, stackDirectories(parts.options.dataDir, key)).remove();
  parts.ledger.destroyed(intent, "destroyed");
}
