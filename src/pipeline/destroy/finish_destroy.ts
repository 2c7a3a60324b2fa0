import {
  dataText,
  type Destroy,
  destroyServices,
  destroyStack,
  keepWritten,
  networksOf,
  readMark,
  type RemovedData,
  removePlacedFiles,
  removeWritten,
  stackDirectories,
  volumesOf,
  writtenData,
} from "../../deploy/mod.ts";
import type { ResourceSummary } from "../../docker/engine.ts";
import {
  errors,
  isStackwrightError,
  type StackKey,
  type StackwrightError,
} from "../../model/mod.ts";
import type { Intent } from "../../record/ledger.ts";
import { recordedOwner } from "../../record/mod.ts";
import { stackAsOwner } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { imagesToRemove } from "../prune_images.ts";
import { managesServices, observeAnyway } from "../stack_mode.ts";
import { claimOf, modelOf, withSeen } from "../owner/claim.ts";
import { partsOf } from "../owner/own_things.ts";
import { whose, whyKept } from "../owner/whose.ts";

/**
 * Carries out a recorded destroy; may be called again after an interruption. Returns what
 * became of the data. Throws `conflict` when the stack is handed over meanwhile.
 */
export async function finishDestroy(
  parts: PipelineParts,
  intent: Intent,
  signal: AbortSignal,
): Promise<RemovedData> {
  const { key, options } = intent;
  const current = parts.ledger.current(key);
  const owner = parts.ledger.owners.mark(key);
  const removeImages = options["removeImages"] === true;
  const isManager = await managesServices(parts, key, current, signal);
  const isStack = current?.swarm !== undefined;
  const removeVolumes = options["removeVolumes"] === true ||
    (isStack && options["keepsStackVolumes"] !== true);
  const { host: { engine }, clock } = parts;
  const services = current === undefined ? [] : parts.ledger.services(current);
  const seen = current === undefined ? partsOf(await observeAnyway(parts, key, signal)) : [];
  const claim = withSeen(claimOf(parts.ledger, key), seen);
  const judged = ({ name, labels }: ResourceSummary) => whose(readMark(labels), claim, name);
  const requireStill = () => {
    if (parts.ledger.owners.mark(key) === owner) return;
    throw errors.conflict(`${key.name} was handed over while it was destroyed; the rest stays`);
  };
  const onImagesLeft = ({ message }: StackwrightError) =>
    parts.log.warning(`images stay: ${message}`, { stack: key.name, context: key.context });
  const images = removeImages
    ? await imagesToRemove(parts, key, signal).catch((error) => {
      if (!isStackwrightError(error, "engine_refused")) throw error;
      onImagesLeft(error);
    })
    : undefined;
  const keeps = (volume: ResourceSummary) => whyKept(judged(volume));
  const destroy = { key, removeVolumes, requireStill, whyKept: keeps };
  const own = await destroyStack(engine, {
    ...destroy,
    // Tasks may still use named volumes; the tasks go next.
    keepsNamed: isManager,
    removeImages: images !== undefined,
    ...images,
    onImagesLeft,
    dependsOn: Object.fromEntries(services.map((each) => [each.name, each.dependsOn])),
  }, signal);
  const volumes = isManager ? await destroyServices({ engine, clock }, destroy, signal) : own;
  for (const { name } of await networksOf(engine, key, signal)) {
    const text = `network ${name} stays: containers of others are connected to it`;
    parts.log.warning(text, { stack: key.name, context: key.context });
  }
  requireStill();
  if (!parts.host.sharesFiles) await removePlacedFiles(engine, key, new Set(), signal);
  const { isKept, deleted } = await removeFiles(parts, destroy, signal);
  const data = { deleted: [...volumes.deleted, ...deleted], kept: volumes.kept };
  // Volume labels cannot stand in: they name no branch, and the owner before a hand-over. A hand-over
  // since the last of it went is of the name that it leaves.
  const left = (await volumesOf(engine, key, signal))
    .filter((each) => judged(each).kind !== "anothers");
  const keepsOwner = isKept || left.length > 0 || parts.ledger.owners.mark(key) !== owner;
  parts.ledger.destroyed(intent, `destroyed${dataText("deleted", data)}`, { keepsOwner });
  parts.secrets.forget(stackAsOwner(key));
  return data;
}

/**
 * Removes a stack's directory. What containers wrote there goes with the volumes only; returns
 * whether any is kept, and what was deleted of it, named.
 */
async function removeFiles(
  parts: PipelineParts,
  { key, removeVolumes, requireStill }: Pick<Destroy, "key" | "removeVolumes" | "requireStill">,
  signal: AbortSignal,
): Promise<{ readonly isKept: boolean; readonly deleted: readonly string[] }> {
  const { ledger, options } = parts;
  if (removeVolumes) {
    const deleted = await written(parts, key);
    requireStill?.();
    await removeWritten(parts, stackDirectories(options.dataDir, key).stack, signal);
    return { isKept: false, deleted };
  }
  requireStill?.();
  const current = ledger.current(key);
  const whose = recordedOwner(ledger, key);
  const owner = whose && current && {
    source: whose.source,
    reference: whose.reference,
    repository: current.revision.source.name,
  };
  const before = current === undefined ? { files: {}, directories: [] } : ledger.live(current);
  return { isKept: await keepWritten(parts, key, { owner, before }, signal), deleted: [] };
}

/** What a stack's containers wrote to relative mounts, named. */
export async function written(
  parts: Pick<PipelineParts, "files" | "host" | "ledger" | "options">,
  key: StackKey,
): Promise<readonly string[]> {
  const current = parts.ledger.current(key);
  // A release that cannot be opened any more must go all the same; its directory is named then.
  return await writtenData(parts, key, current && modelOf(parts.ledger, current));
}
