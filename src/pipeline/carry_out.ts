import { claimsOfContainers } from "../compose/mod.ts";
import {
  adoptContainers,
  askingHost,
  type Halts,
  observe,
  othersCame,
  type ReleaseOnDisk,
  rollout,
  type RolloutResult,
  rolloutStack,
} from "../deploy/mod.ts";
import {
  askingSource,
  isOurs,
  type LiveManifest,
  ownerOfRelease,
  type Release,
  type ServicePlan,
  type StackKey,
  withSequel,
} from "../model/mod.ts";
import { NO_SLOT } from "../system/mod.ts";
import type { Intent, Pin, RecordedRelease } from "../record/mod.ts";
import { imagesToRecord, swarmSources } from "../prepare/mod.ts";
import type { DecidedRollout, PipelineParts } from "./parts.ts";
import { bringBeforeToDisk, placeReleaseFiles, placeTree } from "./placed_files.ts";
import { rolloutParts } from "./rollout/rollout_parts.ts";
import { clearHandOver } from "./owner/clear_hand_over.ts";
import { requireOwnThings } from "./owner/own_things.ts";
import { requireNotClaimed } from "./owner/require_free.ts";
import { warnOfOthers } from "./owner/others_release.ts";
import { pruneImages } from "./rollout/prune_images.ts";
import { runningServices, stoppedOf } from "./rollout/running_services.ts";
import { requireNothingForeign } from "./stack_owner.ts";
import { changeMode, isSameMode, type ModeChange, observeAnyway } from "./stack_mode.ts";
import { settleFiles, tidyReplaced } from "./rollout/tidy_files.ts";
import { type OwnersWork, whileIntended } from "./waits.ts";

const NOTHING_LIVE: LiveManifest = { files: {}, directories: [] };
const NOTHING_RAN = { previous: undefined, recorded: undefined, ranBefore: [], beside: {} };

/** A decided rollout with the state that its decision rests on. */
export interface MarkedRollout extends DecidedRollout {
  /** The ledger's mark of the stack when the plan was made. */
  readonly since: string;
  /** The pin to set, which holds automatic updates back from then on. */
  readonly pin?: Pin;
  /** Whether it is an automatic retry of a release that failed before; false by default. */
  readonly isRetry?: boolean;
}

/**
 * Rolls a release out, and records its intent and its end. Returns `undefined`, having changed
 * nothing, when another process changed the stack since the plan, or containers came under its name:
 * the caller decides again. Throws `conflict` where another manager's run beside the stack's, or
 * instead of them, or left data, and when the stack is handed over meanwhile.
 */
export async function carryOut(
  parts: PipelineParts,
  { since, pin, isRetry = false, ...work }: MarkedRollout,
  signal: AbortSignal,
): Promise<RolloutResult | undefined> {
  const { release } = work.next;
  // The tree may have been removed as unused during a long wait for the slot.
  await placeTree(parts, release, signal);
  await placeReleaseFiles(parts, work, signal);
  const now = await observe(parts.host.engine, release, signal);
  if (othersCame(release, work.observed, now)) return undefined;
  // A change of the mode removes what runs in the other one.
  const isSame = isSameMode(parts.ledger.current(release.key) ?? release, release);
  const all = isSame ? now : await observeAnyway(parts, release.key, signal);
  await requireOwnThings(parts, release, all, signal);
  // Who had it first may have come while this waited, as for its images or its turn.
  await requireNotClaimed(parts, release, work, signal);
  const ranBefore = await runningServices(parts.ledger, release.key, work.observed);
  const isFirst = parts.ledger.current(release.key) === undefined;
  const intent = parts.ledger.beginDecided(release, since, {
    ranBefore,
    there: [...new Set(work.observed.containers.map(({ service }) => service))],
    removeOrphans: work.removeOrphans,
    undoes: work.undone !== undefined,
    orphans: keptOrphans(parts, work),
    starts: work.starts === true,
    ...(release.swarm === undefined && work.images !== undefined ? { images: work.images } : {}),
    ...(pin === undefined ? {} : { pin }),
    ...(work.again && { owner: ownerOfRelease(work.again) }),
    ...(isFirst && { claims: claimsOfContainers(now.containers) }),
  });
  if (intent === undefined) return undefined;
  // Counted as it begins: deciding again is no attempt, and one that crashes is.
  if (isRetry) parts.ledger.failures.countAttempt(release.key);
  const finish: OwnersWork<RolloutResult> = (within, ask) =>
    finishRollout(parts, { ...work, ...warnOfOthers(parts, work), ask }, intent, within);
  return await whileIntended(parts, intent, finish, signal);
}

/** Services of a release that have containers of ours which were orphans until now, and were to stay. */
function keptOrphans(
  { ledger }: Pick<PipelineParts, "ledger">,
  { next: { release }, observed: { containers }, removeOrphans }: DecidedRollout,
): string[] {
  const current = ledger.current(release.key);
  if (removeOrphans || current === undefined || release.swarm !== undefined) return [];
  const had = new Set(ledger.services(current).map(({ name }) => name));
  const there = new Set(containers.filter(isOurs).map(({ service }) => service));
  return release.services.map(({ name }) => name).filter((name) =>
    !had.has(name) && there.has(name)
  );
}

/** Rolls a release out whose intent is recorded already, and records how it ended. */
export async function finishRollout(
  parts: PipelineParts,
  work: DecidedRollout,
  intent: Intent,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { next: { release }, services } = work;
  work.ask?.();
  signal.throwIfAborted();
  await clearHandOver(parts, release.key, signal);
  const recorded = parts.ledger.current(release.key);
  const previous = work.isCurrent === true
    // Another object, since plans to go back to a release are told apart by it.
    ? { ...work.next, release: { ...release } }
    : recorded && await bringBeforeToDisk(parts, recorded, signal);
  // A stop stands until the rollout has succeeded; what runs then is what one that was cut off has started.
  const wasStopped = parts.ledger.stops.get(release.key) !== undefined;
  // Includes the services from the intent: an interrupted rollout may have stopped some of them.
  const runs = wasStopped ? [] : await runningServices(parts.ledger, release.key, work.observed);
  const ranBefore = [...new Set([...intent.ranBefore, ...runs])];
  const liveNow = recorded === undefined ? NOTHING_LIVE : parts.ledger.live(recorded);
  const { images: ran = {} } = recorded ?? {};
  const asked = { release, services, ran, known: work.images ?? {} };
  const beside = await imagesToRecord(parts.host.engine, asked, signal);
  const note: Halts["note"] = (notes) => parts.ledger.noteAdoption(intent, notes);
  const halts = { had: intent.adoption ?? { halted: {}, copying: [], copied: [] }, note };
  const replaced = { previous, recorded, ranBefore, wasStopped, liveNow, beside, halts };
  const result = await replace(parts, { ...work, orphans: intent.orphans ?? [] }, replaced, signal);
  if (result.kind !== "deployed") {
    await giveUp(parts, work, { intent, ...result }, signal);
    return result;
  }
  const images = { ...result.images, ...beside };
  const { note: said = "deployed", remembers, unpins = false } = work;
  parts.ledger.deployed(intent, images, said, { keepsFailure: remembers === false, unpins });
  // Noted again when somebody asks: what a first one found is nobody's any more, nor is what was replaced.
  parts.ledger.claims.forget(recorded?.id ?? intent.releaseId ?? "");
  try {
    await tidyUp(parts, work, ran, signal);
  } finally {
    parts.ledger.tidied(intent);
  }
  return { ...result, images };
}

/** Rolls a release out, by way of a change of mode or an adoption where it takes one. */
async function replace(
  parts: PipelineParts,
  work: DecidedRollout,
  replaced: Replaced & { readonly halts: Halts },
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { halts, ...running } = replaced;
  const { previous, recorded, ranBefore } = running;
  const { slot = NO_SLOT, next: { release } } = work;
  const asking = { ...parts, host: askingHost(parts.host, work.ask) };
  if (recorded !== undefined && !isSameMode(recorded, release)) {
    const { liveNow: liveBefore } = replaced;
    const rollOut: ModeChange["rollOut"] = (each, way) => {
      const liveNow = way === "on" ? liveBefore : release.live;
      return rollOutRelease(asking, each, { ...NOTHING_RAN, liveNow }, signal);
    };
    return await changeMode(asking, { work, recorded, previous, rollOut }, signal);
  }
  const rollOut = () => rollOutRelease(asking, work, running, signal);
  if (release.swarm !== undefined) return await rollOut();
  // An engine that asks would leave half of somebody's containers put back.
  const hasPrevious = previous !== undefined;
  const adoption = { ...work, release, slot, hasPrevious, ranBefore, halts };
  return await adoptContainers(parts, adoption, rollOut, signal);
}

/** Removes what a healthy release has made obsolete: drift notes, file copies, images. */
async function tidyUp(
  parts: PipelineParts,
  { next: { release: { key, swarm } }, ...work }: DecidedRollout,
  ran: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  if (swarm !== undefined) forgetDrift(parts, key, work.services);
  await tidyReplaced(parts, key, signal);
  if (!work.pruneImages) return;
  work.progress("pruning images");
  const replaced = work.observed.containers.map(({ imageId }) => imageId);
  await pruneImages(parts, key, [...replaced, ...Object.values(ran)], signal);
}

/** Closes the intent of a failed rollout, and records the failure. */
async function giveUp(
  parts: PipelineParts,
  work: DecidedRollout,
  { intent, kind, error, text }: Exclude<RolloutResult, { kind: "deployed" }> & { intent: Intent },
  signal: AbortSignal,
): Promise<void> {
  const { next: { release }, again, remembers, automatic } = work;
  if (kind === "rolled_back") await settleFiles(parts, release.key);
  // It has a number of its own, which nobody asked for.
  const message = (again ? `release ${again.number} again: ` : "") + error.message;
  const stopped = await stoppedOf(parts, work, intent, signal);
  parts.ledger.fail(intent, kind, withSequel(message, text), stopped);
  parts.ledger.claims.forget(intent.releaseId ?? "");
  if (release.swarm !== undefined) await noteVerdicts(parts, release, signal);
  if (remembers === false) return;
  const [at, source] = [parts.clock.now(), askingSource(release)];
  const failure = { release: release.digest, source, message, at, automatic };
  parts.ledger.failures.fail(release.key, failure);
}

/** Records the swarm's verdicts on services so far, since the failure tells them already. */
async function noteVerdicts(
  { host: { engine }, ledger, log }: PipelineParts,
  { key, swarm }: Pick<Release, "key" | "swarm">,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { verdicts } = await observe(engine, { key, ...(swarm && { swarm }) }, signal);
    ledger.reconciliations.noteVerdicts(key, verdicts);
  } catch (error) {
    log.debug("what the swarm says of services could not be looked at", { error });
  }
}

/** Forgets the drift of services that were updated: unlike containers, they keep their ids. */
function forgetDrift(
  { ledger: { reconciliations } }: PipelineParts,
  key: StackKey,
  services: readonly ServicePlan[],
): void {
  const found = reconciliations.drift(key);
  const kept = services.filter(({ action }) => action === "keep").map(({ name }) => name);
  const fields = found?.fields.filter(({ service }) => kept.includes(service));
  if (found === undefined || fields === undefined) return;
  const count = found.count - found.fields.length + fields.length;
  reconciliations.noteDrift(key, { ...found, count, fields });
}

interface Replaced {
  readonly previous: ReleaseOnDisk | undefined;
  readonly recorded: RecordedRelease | undefined;
  readonly ranBefore: readonly string[];
  readonly wasStopped?: boolean;
  readonly liveNow: LiveManifest;
  /** Images that the new release runs besides those of its services (hooks, mounted images). */
  readonly beside: Readonly<Record<string, string>>;
}

async function rollOutRelease(
  parts: PipelineParts,
  work: DecidedRollout,
  replaced: Replaced,
  signal: AbortSignal,
): Promise<RolloutResult> {
  if (work.next.release.swarm !== undefined) {
    return await rollOutStack(parts, work, replaced, signal);
  }
  const { recorded, beside: ran, ...rest } = replaced;
  const previousImages = recorded?.images ?? {};
  return await rollout(rolloutParts(parts, work, { images: previousImages, ran }), {
    ...work,
    ...rest,
    previousImages,
    rollback: parts.options.rollback,
  }, signal);
}

async function rollOutStack(
  parts: PipelineParts,
  work: DecidedRollout,
  { previous, recorded, liveNow }: Replaced,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { engine, clock, log, files, progress, replan, requireAllowed } = rolloutParts(parts, work);
  const {
    configRetention: configs = parts.options.configRetention,
    secretRetention: secrets = parts.options.secretRetention,
  } = work.next.release.swarm ?? {};
  const auth = (image: string) => parts.host.images.credentials(image, signal);
  const retention = { configs, secrets };
  const handedOver = parts.handedOver(work.next.release.key);
  const swarm = { ...swarmSources(parts), auth, retention, handedOver };
  const requireOwn = (release: Release, within: AbortSignal) =>
    requireNothingForeign(parts, release, release.model, within);
  const ports = { engine, clock, log, files, progress, replan, requireOwn, requireAllowed, swarm };
  return await rolloutStack(ports, {
    ...work,
    next: { ...work.next, images: work.images ?? {} },
    previous: previous && { ...previous, images: recorded?.images ?? {} },
    liveNow,
    rollback: parts.options.rollback,
  }, signal);
}
