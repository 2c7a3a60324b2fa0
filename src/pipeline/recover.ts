import { clearHalfReplaced, dataText, engineWasAway, observe, startAgain } from "../deploy/mod.ts";
import {
  DEFAULT_CONTEXT,
  errors,
  formatStackKey,
  isStackwrightError,
  messageOf,
  type Release,
  requireNotHeld,
  type StackKey,
  type TargetListener,
  toStackwrightError,
} from "../model/mod.ts";
import { planFor, summarise } from "../plan/mod.ts";
import type { Intent, RecordedRelease } from "../record/ledger.ts";
import { finishRollout } from "./carry_out.ts";
import { tidyAfter } from "./rollout/tidy_files.ts";
import { endOf } from "./decision.ts";
import { finishDestroy } from "./destroy/finish_destroy.ts";
import { bringToDisk, placeReleaseFiles } from "./placed_files.ts";
import { type DecidedRollout, partsFor, type PipelineParts } from "./parts.ts";
import { type Slot, stackAsOwner, stackFields, whoseOf, within } from "../system/mod.ts";
import { requireOwner } from "./destroy/require_owner.ts";
import { claimOf } from "./owner/claim.ts";
import { clearFreeHandOver } from "./owner/clear_hand_over.ts";
import { partsOf, requireOwnThings } from "./owner/own_things.ts";
import { ownerOfIntent, requireDeployedHere } from "../record/mod.ts";
import { isRefusal, requireImages } from "../prepare/mod.ts";
import { createTeller, type Teller } from "../tell/mod.ts";
import { observeAnyway } from "./stack_mode.ts";
import { whileIntended } from "./waits.ts";

/**
 * Finishes the intents that were open when the process ended, before other work may deploy, ends what
 * former owners of stacks that were handed over have left ({@link clearFreeHandOver}), and tells
 * `listeners`: completes a rollout or rolls it back, completes a destroy. An intent that cannot be
 * finished now is left to the next look at the stack, and holds nothing else up. Stacks are finished side by
 * side, as they were begun: many may have been watched at once.
 *
 * With `isMeant`, only intents of those stacks. Intents on contexts whose engines do not answer
 * wait without a report; returns those contexts.
 */
export async function recover(
  anyParts: PipelineParts,
  listeners: readonly TargetListener[],
  signal: AbortSignal,
  isMeant: (key: StackKey) => boolean = () => true,
): Promise<ReadonlySet<string>> {
  const { ledger } = anyParts;
  const open = ledger.interrupted().filter((each) => isMeant(each.key) && !ledger.waits(each));
  const uncleared = ledger.owners.uncleared().filter(isMeant);
  const asked = [...open, ...uncleared.map((key) => ({ key }))];
  const away = await awayContexts(anyParts, asked, signal);
  const finish = async (intent: Intent) => {
    let found = whatWasOpen(anyParts, intent, listeners);
    try {
      const parts = await partsFor(anyParts, intent.key, signal);
      const resume = async (within: AbortSignal, ask: () => void) => {
        ask();
        within.throwIfAborted();
        const still = () => (ask(), requireDeployedHere(ledger, intent.key, "deployed"));
        const go = (slot: Slot) => resumeWithEngine(parts, found, { slot, ask: still }, within);
        await parts.deploying.run(go, within, found.holder);
      };
      await parts.stackLock.run(formatStackKey(intent.key), async () => {
        await parts.secrets.learned(stackAsOwner(intent.key), signal);
        // While this call waited for the lock others may have finished it, or a person stopped the stack.
        const taken = ledger.takeUp(intent);
        if (taken === undefined) return;
        found = { ...found, intent: taken };
        const revision = found.recorded?.revision.id;
        parts.log.warning(resumed(found), { ...stackFields(stackAsOwner(intent.key)), revision });
        await whileIntended(parts, taken, resume, signal);
      }, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toStackwrightError(thrown, `finishing an interrupted ${intent.kind}`);
      const message = `an interrupted ${intent.kind} could not be finished: ${error.message}` +
        (ledger.isStillOpen(intent) ? "; it is tried again at the next look" : "");
      found.teller?.tell({ kind: "ended", end: { status: "failed", message, error } });
    }
  };
  await Promise.allSettled([
    ...open.filter(({ key }) => !away.has(key.context)).map(finish),
    ...uncleared.filter(({ context }) => !away.has(context))
      .map((key) => clearFreeHandOver(anyParts, key, signal)),
  ]);
  signal.throwIfAborted();
  return new Set(open.map(({ key }) => key.context).filter((context) => away.has(context)));
}

/**
 * As {@link recover}, for a stack that is to be deployed or repaired: where its intents still wait, and
 * where one was left open since the start, by a process that has ended or by work of this one that has.
 * Call it without the stack's lock, for whoever may change the stack: what is done next closes what was
 * open, and a rollback's pin with it.
 */
export async function recoverStack(
  parts: PipelineParts,
  listeners: readonly TargetListener[],
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const { waitsFor = (each) => each !== DEFAULT_CONTEXT } = parts;
  const isIt = (each: StackKey) => formatStackKey(each) === formatStackKey(key);
  if (waitsFor(key.context) || parts.ledger.isCutOff(key)) {
    await recover(parts, listeners, signal, isIt);
  }
}

/** Milliseconds after which an engine that says nothing counts as away. */
export const AWAY_MS = 15_000;

/** The contexts of open intents whose engines cannot be asked now, with the errors. */
export async function awayContexts(
  parts: PipelineParts,
  open: readonly Pick<Intent, "key">[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, unknown>> {
  const away = new Map<string, unknown>();
  await Promise.all([...new Set(open.map(({ key }) => key.context))].map(async (context) => {
    try {
      const asked = partsFor(parts, { context }, signal).then(({ host }) => host.info(signal));
      if (await within(asked, AWAY_MS, parts.clock, signal)) return;
      throw errors.engine_unreachable("the engine did not answer yet");
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
  /** The release that was to be deployed, or the current one of a stack to be destroyed. */
  readonly recorded: RecordedRelease | undefined;
  /** In whose name it waits for a slot. */
  readonly holder?: ReturnType<typeof whoseOf>;
  /** Absent without a recorded release: then there is nothing to tell about. */
  readonly teller: Teller | undefined;
}

/** What a command says before anything else: it resumes what nobody asked it for. */
function resumed({ intent: { kind, isDone }, recorded }: Found): string {
  if (isDone === true) {
    return "removing what the last release has replaced, where that was interrupted";
  }
  const number = recorded === undefined ? "a release" : `release ${recorded.number}`;
  const what = kind === "destroy" ? "removal of the stack" : `deployment of ${number}`;
  return `resuming the ${what}, which was interrupted when its process ended`;
}

/** What the rest of a rollout goes on with; see {@link DecidedRollout}. */
type Resuming = Required<Pick<DecidedRollout, "progress" | "slot" | "ask">>;

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
  const holder = whoseOf({ repository, configuration: recorded.configuration });
  return { intent, recorded, holder, teller: createTeller(listeners, target, revision) };
}

/** Waits for an engine that goes away again meanwhile: nobody else may take the intent up again. */
async function resumeWithEngine(
  parts: PipelineParts,
  found: Found,
  how: Pick<Resuming, "slot" | "ask">,
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
        : await resumeDeploy(parts, found, { progress, ...how }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isStackwrightError(error, "engine_unreachable")) throw error;
      await engineWasAway({ engine, clock, log, progress }, error, signal);
    }
  }
}

async function resumeDestroy(parts: PipelineParts, { intent, teller }: Found, signal: AbortSignal) {
  const message = "the removal of the stack was interrupted";
  teller?.begin("destroy", message);
  const refusal = await refusalOf(parts, intent, signal);
  try {
    if (refusal !== undefined) throw refusal;
    const deleted = dataText("deleted", await finishDestroy(parts, intent, signal));
    const end = { status: "succeeded", message: `${message}; destroyed${deleted}` } as const;
    teller?.tell({ kind: "ended", end });
  } catch (thrown) {
    signal.throwIfAborted();
    if (isStackwrightError(thrown, "engine_unreachable")) throw thrown;
    // As a destroy that fails: who wants it asks again, and a person may start the stack.
    const error = toStackwrightError(thrown, "finishing an interrupted destroy");
    parts.ledger.fail(intent, "failed", error.message);
    parts.ledger.reconciliations.suspend(intent.key);
    teller?.tell({ kind: "ended", end: { status: "failed", message: error.message, error } });
  }
}

/**
 * The error that ends the removal of a stack which a person holds since, or under whose name another manager
 * has deployed: what is left then stays. Throws where the engine cannot tell, which ends nothing.
 */
async function refusalOf(
  parts: PipelineParts,
  intent: Intent,
  signal: AbortSignal,
): Promise<unknown> {
  const { key } = intent;
  const owner = ownerOfIntent(parts.ledger, intent);
  const seen = partsOf(await observeAnyway(parts, key, signal));
  try {
    requireNotHeld(key, parts.ledger.holds.get(key), "removed");
    requireDeployedHere(parts.ledger, key, "removed");
    const owned = { parts: seen, claim: claimOf(parts.ledger, key), takes: true };
    if (owner !== undefined) requireOwner(key, owner, owned, "destroyed");
    return undefined;
  } catch (error) {
    return error;
  }
}

async function resumeDeploy(
  parts: PipelineParts,
  { intent, recorded, teller }: Found,
  { progress, ...resuming }: Resuming,
  signal: AbortSignal,
): Promise<void> {
  if (intent.isDone === true) return await tidyAfter(parts, intent, signal);
  let why = "its files cannot be had any more";
  const next = recorded && await bringStillOwn(parts, recorded, signal).catch((error) => {
    // A refusal is final: it would repeat at each start.
    if (!isRefusal(error) && !isStackwrightError(error, "conflict")) throw error;
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
  const message = `release ${recorded.number}, whose deployment was interrupted: ${summary}`;
  teller?.begin("deploy", message, left.services);
  // The built images by id: their names may lead to what another stack built meanwhile.
  const built = recorded.swarm === undefined ? recorded.images : {};
  let images = built;
  try {
    const needed = { services: left.services, progress, images: built };
    images = { ...built, ...await requireImages(parts, next, needed, signal) };
    await placeReleaseFiles(parts, { next, ...needed, images }, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Goes on: the rollout then fails and puts the release before back.
    progress(messageOf(error));
  }
  const { timeoutSeconds } = next.release;
  const how = { pruneImages: false, timeoutSeconds, automatic: true, progress, ...resuming };
  const work = { next, ...left, images, ...how, note: message };
  const result = await finishRollout(parts, work, intent, signal);
  teller?.tell({ kind: "ended", end: endOf(result, message, message) });
}

/** Brings a release to disk whose stack's name nobody else has used since, in either mode. Throws `conflict`. */
async function bringStillOwn(parts: PipelineParts, recorded: RecordedRelease, signal: AbortSignal) {
  requireDeployedHere(parts.ledger, recorded.key, "deployed");
  const next = await bringToDisk(parts, recorded, signal);
  if (next === undefined) return undefined;
  const observed = await observeAnyway(parts, recorded.key, signal);
  await requireOwnThings(parts, next.release, observed, signal);
  return next;
}

/** The plan for the rest of an interrupted rollout; services that it may have replaced are seen healthy first. */
async function planRest(
  { host: { engine }, ledger }: PipelineParts,
  { key, ranBefore, options: { removeOrphans = false, undoes = false } }: Intent,
  release: Release,
  signal: AbortSignal,
) {
  const observed = release.swarm === undefined
    ? await clearHalfReplaced(engine, key, signal)
    : await observe(engine, release, signal);
  const [desired, current] = [release.services, ledger.current(key)];
  const deployed = current && ledger.services(current);
  const undone = undoes ? deployed : undefined;
  const plan = planFor(release, observed, { kind: "resumed", deployed, removeOrphans, undone });
  const services = release.swarm === undefined
    ? startAgain(plan.services, ranBefore, { desired, observed })
    : plan.services;
  const digests = new Map(deployed?.map((each) => [each.name, each.digest]));
  const verify = desired.filter(({ name, digest }) => digests.get(name) !== digest)
    .map(({ name }) => name);
  const summary = summarise(services) || "its containers had been made already";
  return { summary, services, verify, observed, removeOrphans, undone };
}
