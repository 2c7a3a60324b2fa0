import {
  dataText,
  type Destroy,
  destroyServices,
  destroyStack,
  keepWritten,
  networksOf,
  NOTHING_REMOVED,
  objectsOf,
  type RemovedData,
  removePlacedFiles,
  removeWritten,
  sortedOut,
  stackDirectories,
  volumesOf,
  writtenData,
} from "../../deploy/mod.ts";
import {
  formatOwner,
  isStackwrightError,
  plainOwner,
  type Release,
  requireNotHeld,
  type StackKey,
  type StackwrightError,
} from "../../model/mod.ts";
import type { Intent } from "../../record/ledger.ts";
import { ownerOfIntent, recordedOwner } from "../../record/mod.ts";
import { stackAsOwner } from "../../system/mod.ts";
import type { PipelineParts } from "../parts.ts";
import { imagesToRemove } from "../rollout/prune_images.ts";
import { managesServices } from "../decide/manages_services.ts";
import { observeAnyway } from "../stack_mode.ts";
import { requireOwner } from "./require_owner.ts";
import { claimOf, openedOf, withSeen } from "../owner/claim.ts";
import { keptNames } from "../owner/kept_names.ts";
import { endGoneRunsOf, endRunsWith } from "../owner/end_others_runs.ts";
import { partsOf } from "../owner/own_things.ts";
import { keeping } from "../owner/whose.ts";
import { filesOfOther } from "../owner_elsewhere.ts";

/** What a stack runs as on the manager of a swarm. */
const ANYHOW = ["containers", "services"] as const;

/**
 * Carries out a recorded destroy; may be called again after an interruption. Returns what
 * became of the data. Throws `conflict` when the stack is handed over meanwhile, or a person holds it.
 */
export async function finishDestroy(
  parts: PipelineParts,
  intent: Intent,
  signal: AbortSignal,
): Promise<RemovedData> {
  const { key, options } = intent;
  const current = parts.ledger.current(key);
  const [by, since] = [ownerOfIntent(parts.ledger, intent), parts.ledger.owners.mark(key)];
  const isManager = await managesServices(parts, key, current, signal);
  const removeVolumes = options["removeVolumes"] === true ||
    (current?.swarm !== undefined && options["keepsStackVolumes"] !== true);
  const { host: { engine }, clock, options: { reachedAs } } = parts;
  const seen = current === undefined ? partsOf(await observeAnyway(parts, key, signal)) : [];
  const claim = withSeen(claimOf(parts.ledger, key, { reachedAs }), seen);
  const whyKept = keeping(claim, await keptNames(parts.ledger, key));
  const requireStill = () => {
    requireNotHeld(key, parts.ledger.holds.get(key), "removed further");
    if (by === undefined) return;
    const now = claimOf(parts.ledger, key);
    requireOwner(key, by, { parts: [], claim: now, takes: true }, "destroyed further");
  };
  const onImagesLeft = ({ message }: StackwrightError) =>
    parts.log.warning(`images stay: ${message}`, { stack: key.name, context: key.context });
  const images = options["removeImages"] === true
    ? await imagesToRemove(parts, key, signal).catch((error) => {
      if (!isStackwrightError(error, "engine_refused")) throw error;
      onImagesLeft(error);
    })
    : undefined;
  const destroy = { key, removeVolumes, requireStill, whyKept };
  await endRunsWith(parts, destroy, isManager ? ANYHOW : ["containers"], signal);
  const own = await destroyStack(engine, {
    ...destroy,
    // Tasks may still use named volumes; the tasks go next.
    keepsNamed: isManager,
    removeImages: images !== undefined,
    ...images,
    onImagesLeft,
    dependsOn: dependenciesOf(current === undefined ? [] : parts.ledger.services(current)),
  }, signal);
  const ofSwarm = isManager
    ? await destroyServices({ engine, clock }, destroy, signal)
    : NOTHING_REMOVED;
  const objects = isManager ? await objectsOf(engine, key, signal) : [];
  const networks = await tellNetworksLeft(parts, destroy, signal);
  requireStill();
  const written = await removeFiles(parts, destroy, signal);
  const data = {
    deleted: [...own.deleted, ...ofSwarm.deleted, ...written.deleted],
    kept: [...own.kept, ...ofSwarm.kept, ...usedByOthers(objects, destroy), ...written.kept],
  };
  // Labels cannot stand in, also where they are another's: they name no branch, and the owner before a
  // hand-over. A hand-over since the last of it went is of the name that it leaves.
  const left = [...networks, ...objects, ...await volumesOf(engine, key, signal)];
  const keepsOwner = written.isKept || left.length > 0 || parts.ledger.owners.mark(key) !== since;
  await endGoneRunsOf(parts, key, signal);
  parts.ledger.destroyed(intent, `destroyed${dataText("deleted", data)}`, { keepsOwner });
  parts.secrets.forget(stackAsOwner(key));
  return data;
}

function dependenciesOf(services: Release["services"]): Destroy["dependsOn"] {
  return Object.fromEntries(services.map((each) => [each.name, each.dependsOn]));
}

/**
 * The secrets and configs of the stack that stay, in words: a swarm keeps what services of others use.
 * Those of older versions name nobody, so the ledger must say whose they are.
 */
function usedByOthers(
  objects: Awaited<ReturnType<typeof objectsOf>>,
  { key, whyKept }: Pick<Destroy, "key" | "whyKept">,
): readonly string[] {
  return objects.filter(({ kind, ...each }) => whyKept?.(each, kind) === undefined).map((each) =>
    `${each.kind} ${each.name}: services of others use it, so ${key.name} keeps its owner`
  );
}

/**
 * Tells of the networks that stay in use, and returns all that are left: their labels name the deployed
 * repository alone, which gives no right to them, so the ledger must say whose they are.
 */
async function tellNetworksLeft(
  { host: { engine }, log }: Pick<PipelineParts, "host" | "log">,
  { key, whyKept }: Pick<Destroy, "key" | "whyKept">,
  signal: AbortSignal,
): ReturnType<typeof networksOf> {
  const networks = await networksOf(engine, key, signal);
  const left = sortedOut("network", networks, whyKept).goes;
  for (const { name } of left) {
    const text =
      `network ${name} stays: containers of others are connected to it; so ${key.name} keeps its owner`;
    log.warning(text, { stack: key.name, context: key.context });
  }
  return networks;
}

/**
 * Removes a stack's directory. What containers wrote there goes with the volumes only, and stays where it is another
 * owner's, see {@link filesOfOther}; returns whether any is kept, and what was deleted and kept of it, named.
 */
async function removeFiles(
  parts: PipelineParts,
  { key, removeVolumes, requireStill }: Pick<Destroy, "key" | "removeVolumes" | "requireStill">,
  signal: AbortSignal,
): Promise<RemovedData & { readonly isKept: boolean }> {
  const { ledger, options, host: { engine, sharesFiles } } = parts;
  if (!sharesFiles) await removePlacedFiles(engine, key, new Set(), signal);
  const other = await filesOfOther(parts, key);
  if (removeVolumes && other === undefined) {
    const deleted = await written(parts, key);
    requireStill?.();
    await removeWritten(parts, stackDirectories(options.dataDir, key).stack, signal);
    return { isKept: false, deleted, kept: [] };
  }
  requireStill?.();
  const current = ledger.current(key);
  const whose = other === undefined ? recordedOwner(ledger, key) : undefined;
  const owner = whose && current &&
    { ...plainOwner(whose), repository: current.revision.source.name };
  const before = current === undefined ? { files: {}, directories: [] } : ledger.live(current);
  const isKept = await keepWritten(parts, key, { owner, before }, signal);
  const why = other && `the data in its relative mounts: it was deployed for ${formatOwner(other)}`;
  return { isKept, deleted: [], kept: isKept && why ? [why] : [] };
}

/** What a stack's containers wrote to relative mounts, named. */
export async function written(
  parts: Pick<PipelineParts, "files" | "host" | "ledger" | "options">,
  key: StackKey,
): Promise<readonly string[]> {
  const current = parts.ledger.current(key);
  // A release that cannot be opened any more must go all the same; its directory is named then.
  return await writtenData(parts, key, current && openedOf(parts.ledger, current)?.model);
}
