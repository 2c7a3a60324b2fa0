import {
  clearHalfReplaced,
  engineWasAway,
  observe,
  startAgain,
  volumesText,
} from "../deploy/mod.ts";
import {
  formatStackKey,
  isStackwrightError,
  messageOf,
  type Progress,
  type Release,
  type StackKey,
  type TargetListener,
  toStackwrightError,
} from "../model/mod.ts";
import { planFor } from "../plan/mod.ts";
import type { Intent, RecordedRelease } from "../record/ledger.ts";
import { endOf, finishRollout } from "./carry_out.ts";
import { finishDestroy } from "./destroy_target.ts";
import { bringToDisk, placeReleaseFiles } from "./placed_files.ts";
import { partsFor, type PipelineParts } from "./parts.ts";
import type { Slot } from "../system/mod.ts";
import { isRefusal, requireImages } from "../prepare/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";

/**
 * Finishes what was under way when the process ended, before anything else may deploy, and tells
 * `listeners` of it: a release is rolled out to its end or rolled back, a destroy is completed. What
 * cannot be finished now stays open, and is tried again at the next start; it keeps nothing else from
 * working. Stacks are finished side by side, as they were begun: many may have been watched at once.
 *
 * With `isMeant`, what is open of those stacks alone. What is open on a context whose engine does not
 * answer waits without a word; returns those contexts.
 */
export async function recover(
  anyParts: PipelineParts,
  listeners: readonly TargetListener[],
  signal: AbortSignal,
  isMeant: (key: StackKey) => boolean = () => true,
): Promise<ReadonlySet<string>> {
  const { ledger } = anyParts;
  const open = ledger.openIntents().filter(({ key }) => isMeant(key));
  const away = await awayContexts(anyParts, open, signal);
  const finish = async (intent: Intent) => {
    const found = whatWasOpen(anyParts, intent, listeners);
    const log = anyParts.log.with({ stack: intent.key.name, context: intent.key.context });
    try {
      const parts = await partsFor(anyParts, intent.key, signal);
      const resume = (slot: Slot) => resumeWithEngine(parts, found, slot, signal);
      await parts.stackLock.run(formatStackKey(intent.key), async () => {
        // Somebody else may have finished it while this waited for the lock.
        if (!ledger.openIntents().some(({ id }) => id === intent.id)) return;
        log.warning(`resuming an interrupted ${intent.kind}`);
        await parts.deploying.run(resume, signal, found.holder);
      }, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toStackwrightError(thrown, `finishing an interrupted ${intent.kind}`);
      const message = `an interrupted ${intent.kind} could not be finished: ${error.message}; ` +
        "it is tried again at the next start";
      found.teller?.tell({ kind: "ended", end: { status: "failed", message, error } });
    }
  };
  await Promise.allSettled(open.filter(({ key }) => !away.has(key.context)).map(finish));
  signal.throwIfAborted();
  return new Set(away.keys());
}

/** The contexts of open intents whose engines cannot be asked now, and what they say. */
export async function awayContexts(
  parts: PipelineParts,
  open: readonly Pick<Intent, "key">[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, unknown>> {
  const away = new Map<string, unknown>();
  await Promise.all([...new Set(open.map(({ key }) => key.context))].map(async (context) => {
    try {
      await (await partsFor(parts, { context }, signal)).host.info(signal);
    } catch (error) {
      signal.throwIfAborted();
      parts.log.debug(`interrupted work waits: ${messageOf(error)}`, { context });
      away.set(context, error);
    }
  }));
  return away;
}

/** An intent that an ended process left open. */
interface Found {
  readonly intent: Intent;
  /** The release that it is about: the one that was to be deployed, or that was to go. */
  readonly recorded: RecordedRelease | undefined;
  /** Name that it waits for a slot by. */
  readonly holder?: string;
  /** Absent where nothing is known that anything could be told of. */
  readonly teller: Teller | undefined;
}

function whatWasOpen(
  { ledger }: PipelineParts,
  intent: Intent,
  listeners: readonly TargetListener[],
): Found {
  const { key, releaseId } = intent;
  const recorded = releaseId === undefined ? ledger.current(key) : ledger.release(releaseId);
  if (recorded === undefined) return { intent, recorded, teller: undefined };
  const { revision } = recorded;
  const repository = revision.source.name;
  const target = { key, repository, trigger: "recovery", origin: "automatic" } as const;
  const holder = (recorded.configuration ?? revision).source.name;
  return { intent, recorded, holder, teller: createTeller(listeners, target, revision) };
}

/** An engine that goes away again meanwhile is waited for: nobody may come back for the intent. */
async function resumeWithEngine(
  parts: PipelineParts,
  found: Found,
  slot: Slot,
  signal: AbortSignal,
): Promise<void> {
  const { intent: { key, kind }, teller } = found;
  const { host: { engine }, clock } = parts;
  const log = parts.log.with({ stack: key.name, context: key.context });
  const progress = (text: string) => {
    log.debug(text);
    teller?.tell({ kind: "step", text });
  };
  for (;;) {
    try {
      return kind === "destroy"
        ? await resumeDestroy(parts, found, signal)
        : await resumeDeploy(parts, found, { progress, slot }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isStackwrightError(error, "engine_unreachable")) throw error;
      await engineWasAway({ engine, clock, log, progress }, error, signal);
    }
  }
}

async function resumeDestroy(
  parts: PipelineParts,
  { intent, teller }: Found,
  signal: AbortSignal,
): Promise<void> {
  const message = "the removal of the stack was interrupted";
  teller?.begin("destroy", message);
  const deleted = volumesText("deleted", await finishDestroy(parts, intent, signal));
  const end = { status: "succeeded", message: `${message}; destroyed${deleted}` } as const;
  teller?.tell({ kind: "ended", end });
}

async function resumeDeploy(
  parts: PipelineParts,
  { intent, recorded, teller }: Found,
  { progress, slot }: { readonly progress: Progress; readonly slot: Slot },
  signal: AbortSignal,
): Promise<void> {
  let why = "its files cannot be had any more";
  const next = recorded && await bringToDisk(parts, recorded, signal).catch((error) => {
    // It would be refused at each start.
    if (!isRefusal(error)) throw error;
    why = messageOf(error);
    return undefined;
  });
  if (recorded === undefined || next === undefined) {
    const message = `interrupted, and ${why}`;
    parts.ledger.fail(intent, "failed", message);
    teller?.tell({ kind: "ended", end: { status: "failed", message } });
    return;
  }
  const { summary, ...left } = await planRest(parts, intent, next.release, signal);
  const { services } = left;
  const message = `release ${recorded.number}, whose deployment was interrupted: ${summary}`;
  teller?.begin("deploy", message, services);
  // What was built for it: its names may mean what another stack built meanwhile.
  const built = recorded.swarm === undefined ? recorded.images : {};
  let images = built;
  try {
    const needed = { services, progress, images: built };
    images = { ...built, ...await requireImages(parts, next, needed, signal) };
    await placeReleaseFiles(parts, { next, services, images, progress }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Then the rollout fails, and puts back what ran before.
    progress(messageOf(error));
  }
  const { timeoutSeconds } = next.release;
  const how = { pruneImages: false, timeoutSeconds, automatic: true, progress, slot };
  const result = await finishRollout(parts, { next, ...left, images, ...how }, intent, signal);
  teller?.tell({ kind: "ended", end: endOf(result, message, message) });
}

/** The plan for what an interrupted rollout left undone; what it may have replaced is verified. */
async function planRest(
  { host: { engine }, ledger }: PipelineParts,
  { key, ranBefore, options: { removeOrphans = false } }: Intent,
  release: Release,
  signal: AbortSignal,
) {
  const observed = release.swarm === undefined
    ? await clearHalfReplaced(engine, key, signal)
    : await observe(engine, release, signal);
  const desired = release.services;
  const current = ledger.current(key);
  const deployed = current && ledger.services(current);
  const plan = planFor(desired, observed, { kind: "resumed", deployed, removeOrphans });
  const services = release.swarm === undefined
    ? startAgain(plan.services, ranBefore, { desired, observed })
    : plan.services;
  const digests = new Map(deployed?.map((each) => [each.name, each.digest]));
  // Those that it may have replaced already, without seeing them healthy.
  const verify = desired.filter(({ name, digest }) => digests.get(name) !== digest)
    .map(({ name }) => name);
  return { summary: plan.message, services, verify, observed, removeOrphans };
}
