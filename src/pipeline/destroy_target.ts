import { dataText, readMark, type RemovedData, sortedOut, volumesOf } from "../deploy/mod.ts";
import {
  type DiscoveredStack,
  errors,
  fewOf,
  formatOwner,
  formatStackKey,
  messageOf,
  type ObservedStack,
  ownerOfRelease,
  type Plan,
  requireNotHeld,
  type StackKey,
  type StackOwner,
  type TargetEnd,
} from "../model/mod.ts";
import { deletesVolumes, type Goes, keptData, type RemovedBeside } from "../plan/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { finishDestroy, written } from "./destroy/finish_destroy.ts";
import { requireOwner } from "./destroy/require_owner.ts";
import { partsOf } from "./owner/own_things.ts";
import type { PipelineParts } from "./parts.ts";
import { managesServices } from "./decide/manages_services.ts";
import { type Mode, observeAnyway, ofMode, wordsFor } from "./stack_mode.ts";
import {
  othersRelease,
  ownerBeside,
  recordedOwner,
  requireDeployedHere,
  requireFreeName,
} from "../record/mod.ts";
import { claimOf, withSeen } from "./owner/claim.ts";
import { keptNames } from "./owner/kept_names.ts";
import { keeping, whose } from "./owner/whose.ts";
import { filesOfOther, keptForOther, ownersElsewhere } from "./owner_elsewhere.ts";
import { requireNotOwnProject } from "../prepare/mod.ts";
import { untilSettled, whileIntended } from "./waits.ts";

/** The configuration that wants a stack destroyed. */
interface Destroyer {
  readonly by: StackOwner;
  /** The stack, where it was discovered. */
  readonly found?: DiscoveredStack | undefined;
  /** Whether it goes since nothing names it any more. */
  readonly isUnnamed?: boolean;
}

/** A decision to remove a stack. */
interface DestroyDecided {
  readonly what: RemovedBeside;
  /** The ledger's mark of the stack at the time of the decision. */
  readonly since: string;
}

/**
 * Removes a stack from the engine, the disk and the list of current releases; its history stays.
 * Returns what became of its data, `undefined` when the stack did not exist, or `moved`, with nothing changed,
 * when it was changed, held or stopped after the decision.
 *
 * Only the source whose configuration deployed the stack may do that. Throws `conflict` for any
 * other source, for containers that Stackwright neither made nor would take over, and where another
 * context of the engine has deployed the stack since.
 */
export async function destroyTarget(
  parts: PipelineParts,
  key: StackKey,
  { by, found, isUnnamed, ...decided }: Destroyer & DestroyDecided,
  signal: AbortSignal,
): Promise<RemovedData | "moved" | undefined> {
  const observed = await observeAnyway(parts, key, signal);
  const asked = { by, found, observed, ...(isUnnamed && { isUnnamed }) };
  if (!await isThere(parts, key, asked, signal)) return undefined;
  return await destroyNow(parts, key, { by, settles: by, ...decided }, signal);
}

/**
 * Destroys a stack. A failure ends the intent, for whoever asks for it to ask again: at the next
 * start the stack may be wanted. One that is cut off is finished then. Until a run wants the stack again, or a
 * person starts it, nobody brings back what is gone: a repair and the next destroy would take turns.
 */
async function destroyNow(
  parts: PipelineParts,
  key: StackKey,
  { what, since, ...owners }: DestroyDecided & {
    readonly by: StackOwner | undefined;
    readonly settles?: StackOwner;
  },
  signal: AbortSignal,
): Promise<RemovedData | "moved"> {
  await requireNotOwnProject(parts.host, key, signal);
  // Without a word on them the volumes of a swarm's stack go.
  const options = { ...what, keepsStackVolumes: !what.removeVolumes };
  const intent = parts.ledger.beginDecidedDestroy(key, since, { options, ...owners });
  if (intent === undefined) return "moved";
  const finish = (within: AbortSignal) => finishDestroy(parts, intent, within);
  try {
    return await whileIntended(parts, intent, finish, signal);
  } catch (error) {
    // What a hand-over ended is closed, and not finished at the next start, either.
    if (parts.ledger.isStillOpen(intent)) {
      signal.throwIfAborted();
      parts.ledger.fail(intent, "failed", messageOf(error));
    }
    parts.ledger.reconciliations.suspend(key);
    throw error;
  }
}

/** A requested destroy: why, by whom, and what ran at the time. */
interface ToDestroy extends Destroyer {
  readonly because: string;
  readonly verdict: Goes;
  /** When it goes, see {@link whenRemoved}. */
  readonly when: string;
  readonly observed: ObservedStack;
}

/** The end of a target whose stack was to be destroyed and does not exist. */
export function nothingToDestroy({ name }: StackKey): TargetEnd {
  return { status: "skipped", reason: "nothing_to_destroy", message: `${name} does not run` };
}

/**
 * Decides whether there is anything to destroy. The plan's message names the data that would be
 * deleted. Throws as {@link destroyTarget} does, and changes nothing.
 */
export async function decideDestroy(
  parts: Pick<PipelineParts, "clock" | "files" | "host" | "hosts" | "ledger" | "options">,
  key: StackKey,
  { because, verdict, when, ...asked }: ToDestroy,
  signal: AbortSignal,
): Promise<Plan & { readonly kind: "skip" | "destroy" }> {
  const { observed } = asked;
  if (!await isThere(parts, key, asked, signal)) {
    const message = "there is nothing to destroy";
    return { kind: "skip", reason: "nothing_to_destroy", message, services: [] };
  }
  const { reachedAs } = parts.options;
  const claim = withSeen(
    claimOf(parts.ledger, key, { by: asked.by, reachedAs }),
    partsOf(observed),
  );
  const sorted = async () => {
    const volumes = await volumesOf(parts.host.engine, key, signal);
    const whyKept = keeping(claim, await keptNames(parts.ledger, key));
    const { goes, kept } = sortedOut("volume", volumes, whyKept);
    const deleted = goes.map(({ name }) => `volume ${name}`);
    return { deleted: [...deleted, ...await written(parts, key)], kept };
  };
  const stays = verdict.stays.length === 0 ? [keptData()] : verdict.stays;
  const data = deletesVolumes(verdict) ? await sorted() : { deleted: [], kept: stays };
  const names = [...new Set(observed.containers.map((each) => each.service))].sort();
  const services = names.map((name) => ({ name, action: "remove" as const, because: [because] }));
  const what = names.length === 0 ? "what is left" : fewOf(names);
  const message = `destroy ${what}${dataText("deletes", data)}${when}`;
  return { kind: "destroy", message, services };
}

/** True when anything of a stack exists. Throws `conflict` when `by` may not destroy it. */
async function isThere(
  parts: Parameters<typeof ownersElsewhere>[0] & Parameters<typeof keptForOther>[0],
  key: StackKey,
  { by, found, observed, isUnnamed = false }: Pick<
    ToDestroy,
    "by" | "found" | "observed" | "isUnnamed"
  >,
  signal: AbortSignal,
): Promise<boolean> {
  const { ledger } = parts;
  const containers = partsOf(observed);
  // What failed, or was cut off, may have left volumes and files when the containers were gone.
  const isAny = ledger.discovered.isLeft(key) || containers.length > 0 ||
    ledger.current(key) !== undefined || ledger.leftDestroy(key);
  if (!isAny) return false;
  requireFreeName(ledger, found);
  requireDeployedHere(ledger, key, "destroyed", by);
  const claim = claimOf(ledger, key, { by, found, reachedAs: parts.options.reachedAs });
  requireOwner(key, by, { parts: containers, claim, takes: true }, "destroyed");
  if (isUnnamed) await requireKnown(parts, key, { by, observed });
  const asked = { key, wants: by, found, isThere: true };
  const elsewhere = recordedOwner(ledger, key) === undefined
    ? (await ownersElsewhere(parts, asked, signal))[0] ?? await keptForOther(parts, asked)
    : undefined;
  if (elsewhere === undefined) return true;
  if (elsewhere.isOwn) throw errors.conflict(`conflict: ${elsewhere.words}`);
  throw errors.conflict(
    `${key.name} is not destroyed: it ${elsewhere.words}, not to ${formatOwner(by)}`,
  );
}

/**
 * Refuses to remove a discovered stack of which something is there that the ledger does not know: when an older one was
 * put back, somebody may have deployed it since. A directory that is gone does not tell; a person does. Throws `conflict`.
 */
async function requireKnown(
  parts: Pick<PipelineParts, "files" | "ledger" | "options">,
  key: StackKey,
  { by, observed }: Pick<ToDestroy, "by" | "observed">,
): Promise<void> {
  const { ledger, options: { dataDir } } = parts;
  const other = await filesOfOther(parts, key, by);
  const why = other === undefined
    ? othersRelease(ledger, { key, observed, dataDir })
    : `its files in ${dataDir} were deployed for ${formatOwner(other)}`;
  if (why === undefined) return;
  const how = `name it again with destroy: true, or DELETE /v1/api/project/${key.name}`;
  throw errors.conflict(`${key.name} is not removed: ${why}; if it has to go, ${how}`);
}

/**
 * Destroys a stack because a person said so, whatever its source says. The caller holds its lock.
 * Returns as {@link destroyTarget}: `undefined` when the ledger has no current release of the
 * stack in that mode, which the caller may remove all the same then.
 *
 * Throws `conflict` when a person holds the stack, who may be another one, and when it is another owner's by
 * another context of the same engine, or that one has deployed it since.
 */
export function destroyRecorded(
  parts: PipelineParts,
  key: StackKey,
  what: DestroyRecorded,
  signal: AbortSignal,
): Promise<RemovedData | undefined> {
  return untilSettled(parts, key, () => destroyAsked(parts, key, what, signal), signal);
}

type DestroyRecorded = RemovedBeside & { readonly isStack: boolean };

async function destroyAsked(
  parts: PipelineParts,
  key: StackKey,
  { isStack, ...what }: DestroyRecorded,
  signal: AbortSignal,
): Promise<RemovedData | "moved" | undefined> {
  const since = parts.ledger.mark(key);
  const [current, by] = [parts.ledger.current(key), recordedOwner(parts.ledger, key)];
  requireNotHeld(key, parts.ledger.holds.get(key), "removed");
  const words = await whoseElsewhere(parts, key, current, signal);
  if (words !== undefined) {
    const advice = "remove it by that context, or hand it over first (stackwright adopt)";
    throw errors.conflict(`${key.name} is not removed: it ${words}; ${advice}`);
  }
  requireDeployedHere(parts.ledger, key, "removed");
  // A first release that was cut off has to end as well: the next look would make it again.
  const isIts = (each: RecordedRelease) => formatStackKey(each.key) === formatStackKey(key);
  const begun = current ?? parts.ledger.releasesUnderWay().find(isIts);
  // What a person says of data that waits to be deleted counts: the run finds the stack changed.
  if (begun === undefined && parts.ledger.discovered.isLeft(key)) {
    return await destroyNow(parts, key, { by, what, since }, signal);
  }
  if (begun === undefined || (begun.swarm !== undefined) !== isStack) return undefined;
  await requireNoneBeside(parts, begun, signal);
  return await destroyNow(parts, key, { by, what, since }, signal);
}

/** Words about the owner of a stack by another context of its engine, where that has it now. */
async function whoseElsewhere(
  parts: PipelineParts,
  key: StackKey,
  current: RecordedRelease | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { owners } = parts.ledger;
  const other = ownerBeside(parts.ledger, key, current);
  if (other !== undefined) {
    const where = `in context ${other.context}, which leads to this engine`;
    return `belongs to ${formatOwner(other)} ${where}`;
  }
  if (owners.get(key) !== undefined || owners.elsewhere(key).length === 0) return undefined;
  const containers = partsOf(await observeAnyway(parts, key, signal));
  if (current === undefined && containers.length === 0) return undefined;
  const wants = current && { wants: ownerOfRelease(current) };
  const [first] = await ownersElsewhere(parts, { key, ...wants, isThere: true }, signal);
  return first?.words;
}

/**
 * Refuses to remove a stack while containers or services that are not its own have its name in the
 * other mode: they would go with it. Throws `conflict`.
 */
async function requireNoneBeside(
  parts: Pick<PipelineParts, "host" | "ledger">,
  { key, swarm }: RecordedRelease,
  signal: AbortSignal,
): Promise<void> {
  const isManager = await managesServices(parts, key, { ...(swarm && { swarm }) }, signal);
  const other: Mode = swarm === undefined ? { swarm: {} } : {};
  const beside = swarm === undefined && !isManager ? [] : await ofMode(parts, key, other, signal);
  const claim = claimOf(parts.ledger, key);
  const theirs = beside.find(({ labels }) => whose(readMark(labels), claim).kind !== "own");
  if (theirs === undefined) return;
  const what = `${theirs.name} has its name as ${wordsFor(other)}`;
  throw errors.conflict(
    `${key.name} was not removed: ${what}, and would go with it, but is not its own; ` +
      "remove that first",
  );
}
