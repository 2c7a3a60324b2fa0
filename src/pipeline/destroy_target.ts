import {
  asVolumes,
  deletedText,
  destroyServices,
  destroyStack,
  keepWritten,
  networksOf,
  removePlacedFiles,
  removeWritten,
  stackDirectories,
  volumesOf,
  writtenData,
} from "../deploy/mod.ts";
import {
  type ComposeModel,
  type DiscoveredStack,
  errors,
  formatOwner,
  isOurs,
  isStackwrightError,
  messageOf,
  type ObservedStack,
  type Plan,
  type StackKey,
  type StackOwner,
  type StackwrightError,
} from "../model/mod.ts";
import type { Intent, RecordedRelease } from "../record/ledger.ts";
import type { PipelineParts } from "./parts.ts";
import { managesServices, type Mode, observeAnyway, ofMode, wordsFor } from "./stack_mode.ts";
import { imagesToRemove } from "./prune_images.ts";
import { stackAsOwner } from "../system/mod.ts";
import { formerOwner, ownerOfRelease, recordedOwner, requireFreeName } from "../record/mod.ts";
import { ownerElsewhere } from "./owner_elsewhere.ts";
import { requireOwner } from "./stack_owner.ts";

/** Things that a destroy removes besides containers and networks. */
type DestroyWhat = {
  readonly removeVolumes: boolean;
  readonly removeImages: boolean;
  /** Whether the volumes of a swarm stack stay; a destroy by configuration deletes them. */
  readonly keepsStackVolumes?: boolean;
};

/** The configuration that wants a stack destroyed. */
interface Destroyer {
  readonly by: StackOwner;
  /** The stack, where it was discovered. */
  readonly found?: DiscoveredStack | undefined;
}

/**
 * Removes a stack from the engine, the disk and the list of current releases; its history stays.
 * Returns the deleted data, named, or `undefined` when the stack did not exist.
 *
 * Only the source whose configuration deployed the stack may do that. Throws `conflict` for any
 * other source, and for containers that Stackwright did not make.
 */
export async function destroyTarget(
  parts: PipelineParts,
  key: StackKey,
  by: Destroyer,
  what: DestroyWhat,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const observed = await observeAnyway(parts, key, signal);
  if (!await isThere(parts, key, { ...by, observed }, signal)) return undefined;
  return await destroyNow(parts, key, what, signal);
}

/**
 * Destroys a stack. A failure ends the intent, for whoever asks for it to ask again: at the next
 * start the stack may be wanted. One that is cut off is finished then. Until a run wants the stack
 * again, nobody brings back what is gone: a repair and the next destroy would take turns.
 */
async function destroyNow(
  parts: PipelineParts,
  key: StackKey,
  what: DestroyWhat,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const intent = parts.ledger.beginDestroy(key, { ...what });
  try {
    return await finishDestroy(parts, intent, signal);
  } catch (error) {
    // What a hand-over ended is not finished at the next start, either.
    if (!isStackwrightError(signal.reason, "conflict")) signal.throwIfAborted();
    parts.ledger.fail(intent, "failed", messageOf(error));
    parts.ledger.reconciliations.remove(key);
    throw error;
  }
}

/** A requested destroy: why, by whom, and what ran at the time. */
interface ToDestroy extends Destroyer {
  readonly because: string;
  readonly removeVolumes: boolean;
  readonly observed: ObservedStack;
}

/**
 * Decides whether there is anything to destroy. The plan's message names all data that would be
 * deleted. Throws as {@link destroyTarget} does, and changes nothing.
 */
export async function decideDestroy(
  parts: Pick<PipelineParts, "clock" | "files" | "host" | "hosts" | "ledger" | "options">,
  key: StackKey,
  { because, removeVolumes, ...asked }: ToDestroy,
  signal: AbortSignal,
): Promise<Plan & { readonly kind: "skip" | "destroy" }> {
  const { observed } = asked;
  if (!await isThere(parts, key, asked, signal)) {
    const message = "there is nothing to destroy";
    return { kind: "skip", reason: "nothing_to_destroy", message, services: [] };
  }
  const isStack = parts.ledger.current(key)?.swarm !== undefined;
  const data = removeVolumes || isStack
    ? [...asVolumes(await volumesOf(parts.host.engine, key, signal)), ...await written(parts, key)]
    : [];
  const names = [...new Set(observed.containers.map((each) => each.service))].sort();
  const services = names.map((name) => ({ name, action: "remove" as const, because: [because] }));
  const what = names.length === 0 ? "what is left" : names.join(", ");
  const message = `destroy ${what}${deletedText("deletes", data)}`;
  return { kind: "destroy", message, services };
}

/** What a stack's containers wrote to relative mounts, named. */
async function written(
  parts: Pick<PipelineParts, "files" | "host" | "ledger" | "options">,
  key: StackKey,
): Promise<readonly string[]> {
  const current = parts.ledger.current(key);
  let model: ComposeModel | undefined;
  try {
    model = current && parts.ledger.open(current).model;
  } catch {
    // A release that cannot be opened any more must go all the same; its directory is named then.
  }
  return await writtenData(parts, key, model);
}

/** True when anything of a stack exists. Throws `conflict` when `by` may not destroy it. */
async function isThere(
  parts: Parameters<typeof ownerElsewhere>[0],
  key: StackKey,
  { by, found, observed }: Pick<ToDestroy, "by" | "found" | "observed">,
  signal: AbortSignal,
): Promise<boolean> {
  const { ledger } = parts;
  const recorded = ledger.current(key);
  if (observed.containers.length === 0 && recorded === undefined) return false;
  const owner = ledger.owners.get(key);
  requireFreeName(ledger, found);
  requireOwner(key, by, { parts: observed.containers, recorded, owner }, "destroyed");
  const elsewhere = recorded === undefined && owner === undefined
    ? await ownerElsewhere(parts, { key, wants: by, found, isThere: true }, signal)
    : undefined;
  if (elsewhere === undefined) return true;
  if (elsewhere.isOwn) throw errors.conflict(`conflict: ${elsewhere.words}`);
  throw errors.conflict(
    `${key.name} is not destroyed: it ${elsewhere.words}, not to ${formatOwner(by)}`,
  );
}

/**
 * Destroys a stack because a person said so, whatever its source says. The caller holds its lock.
 * Returns as {@link destroyTarget}: `undefined` when the ledger has no current release of the
 * stack in that mode, which the caller may remove all the same then.
 *
 * Throws `conflict` when the stack is another owner's by another context of the same engine.
 */
export async function destroyRecorded(
  parts: PipelineParts,
  key: StackKey,
  { isStack, ...what }: DestroyWhat & { readonly isStack: boolean },
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const current = parts.ledger.current(key);
  const words = await whoseElsewhere(parts, key, current, signal);
  if (words !== undefined) {
    const advice = "remove it by that context, or hand it over first (stackwright adopt)";
    throw errors.conflict(`${key.name} is not removed: it ${words}; ${advice}`);
  }
  if (current === undefined || (current.swarm !== undefined) !== isStack) return undefined;
  await requireNoneBeside(parts, current, signal);
  return await destroyNow(parts, key, what, signal);
}

/** Words about the owner of a stack by another context of its engine, where that has it now. */
async function whoseElsewhere(
  parts: PipelineParts,
  key: StackKey,
  current: RecordedRelease | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { owners } = parts.ledger;
  const owner = owners.get(key);
  if (owner?.elsewhere !== undefined) {
    if (current !== undefined && formerOwner(current, owner) === undefined) return undefined;
    return `belongs to ${
      formatOwner(owner)
    } in context ${owner.elsewhere}, which leads to this engine`;
  }
  if (owner !== undefined || owners.elsewhere(key).length === 0) return undefined;
  const { containers } = await observeAnyway(parts, key, signal);
  if (current === undefined && containers.length === 0) return undefined;
  const wants = current && { wants: ownerOfRelease(current) };
  return (await ownerElsewhere(parts, { key, ...wants, isThere: true }, signal))?.words;
}

/**
 * Refuses to remove a stack while containers or services that Stackwright did not make have its
 * name in the other mode: they would go with it. Throws `conflict`.
 */
async function requireNoneBeside(
  parts: Pick<PipelineParts, "host">,
  { key, swarm }: RecordedRelease,
  signal: AbortSignal,
): Promise<void> {
  const isManager = await managesServices(parts, key, { ...(swarm && { swarm }) }, signal);
  const other: Mode = swarm === undefined ? { swarm: {} } : {};
  const beside = swarm === undefined && !isManager ? [] : await ofMode(parts, key, other, signal);
  const theirs = beside.find((each) => !isOurs(each));
  if (theirs === undefined) return;
  const what = `${theirs.name} has its name as ${wordsFor(other)}`;
  throw errors.conflict(
    `${key.name} was not removed: ${what}, and would go with it, but is none of Stackwright's; ` +
      "remove that first",
  );
}

/**
 * Carries out a recorded destroy; may be called again after an interruption. Returns the
 * deleted data, named. Throws `conflict` when the stack is handed over meanwhile.
 */
export async function finishDestroy(
  parts: PipelineParts,
  intent: Intent,
  signal: AbortSignal,
): Promise<readonly string[]> {
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
  const own = await destroyStack(engine, {
    key,
    removeVolumes,
    requireStill,
    // Tasks may still use named volumes; the tasks go next.
    keepsNamed: isManager,
    removeImages: images !== undefined,
    ...images,
    onImagesLeft,
    dependsOn: Object.fromEntries(services.map((each) => [each.name, each.dependsOn])),
  }, signal);
  const volumes = isManager
    ? await destroyServices({ engine, clock }, { key, removeVolumes, requireStill }, signal)
    : own;
  for (const { name } of await networksOf(engine, key, signal)) {
    const text = `network ${name} stays: containers of others are connected to it`;
    parts.log.warning(text, { stack: key.name, context: key.context });
  }
  if (!parts.host.sharesFiles) await removePlacedFiles(engine, key, new Set(), signal);
  const { isKept, deleted } = await removeFiles(parts, key, removeVolumes, signal);
  const data = [...asVolumes(volumes), ...deleted];
  // Volume labels cannot stand in: they name no branch, and the owner before a hand-over. A hand-over
  // since the last of it went is of the name that it leaves.
  const keepsOwner = isKept || (await volumesOf(engine, key, signal)).length > 0 ||
    parts.ledger.owners.mark(key) !== owner;
  parts.ledger.destroyed(intent, `destroyed${deletedText("deleted", data)}`, { keepsOwner });
  parts.secrets.forget(stackAsOwner(key));
  return data;
}

/**
 * Removes a stack's directory. What containers wrote there goes with the volumes only; returns
 * whether any is kept, and what was deleted of it, named.
 */
async function removeFiles(
  parts: PipelineParts,
  key: StackKey,
  removeVolumes: boolean,
  signal: AbortSignal,
): Promise<{ readonly isKept: boolean; readonly deleted: readonly string[] }> {
  const { ledger, options } = parts;
  if (removeVolumes) {
    const deleted = await written(parts, key);
    await removeWritten(parts, stackDirectories(options.dataDir, key).stack, signal);
    return { isKept: false, deleted };
  }
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
