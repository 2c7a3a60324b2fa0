import { once } from "../system/mod.ts";
import {
  askingSource,
  fewOf,
  isOurs,
  type ObservedContainer,
  ownerFrom,
  type Plan,
} from "../model/mod.ts";
import {
  afterTurns,
  decideRemoval,
  type Hold,
  planFor,
  requireSupported,
  retryHold,
  whenRemoved,
  whyForced,
} from "../plan/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { recordedOwner } from "../record/mod.ts";
import { type Found, moveRevision, remember } from "./decide/record_unchanged.ts";
import { jobsToAwait } from "./act.ts";
import { type Attempt, remembering } from "./decide/remembering.ts";
import { pinHold } from "./decide/pin_hold.ts";
import { requireRoomForStack } from "./decide/stack_limit.ts";
import { swarmNow } from "./decide/swarm_now.ts";
import { removalHold, removalWish } from "./destroy/failed_removal.ts";
import { removalFacts } from "./destroy/remove_stack.ts";
import { decideDestroy } from "./destroy_target.ts";
import { changedNetworks, lacksExternal, look, requireDataHere } from "../deploy/mod.ts";
import { warnOfForeignStops } from "./owner/foreign_stops.ts";
import { tellingOthers } from "./owner/others_release.ts";
import { requireFree } from "./owner/require_free.ts";
import { decideHeld, nextAttempt, paceOf, retryOf, stoppedHold, waitingHold } from "./hold.ts";
import {
  changesSince,
  type ImageIds,
  isSuperseded,
  type PreparedRelease,
  prepareImages,
  prepareRelease,
  refreshImages,
  requireNotOwnProject,
  type ResolvedTarget,
  resolveSecrets,
  type Target,
} from "../prepare/mod.ts";
import { planAfterFailure, withContainers, withFiles, withNetworks } from "./beyond_digests.ts";
import type { PipelineParts } from "./parts.ts";
import { targetWindowHold } from "./sync_gate.ts";
import { isSameMode, observeAnyway, planOfChange, requireChangeableMode } from "./stack_mode.ts";
import {
  requireNotAnothers,
  requireNothingForeign,
  requireOwnership,
  volumesOwner,
} from "./stack_owner.ts";
import { type Decision, skip } from "./decision.ts";

/**
 * Decides about a target. A target whose inputs equal those of its deployed release is settled
 * without a checkout and without compose; any other is rendered and digested. A decision to deploy
 * has its images on the engine; nothing that runs was changed.
 */
export async function decideTarget(
  parts: PipelineParts,
  asked: Target,
  signal: AbortSignal,
): Promise<Decision> {
  const { deployment, key, revision } = asked;
  // What is recorded in the name that decided is not, where that is a former owner's by then.
  const mark = parts.ledger.mark(key);
  await requireNotOwnProject(parts.host, key, signal);
  const stopped = stoppedHold(parts, asked);
  if (stopped !== undefined) return skip(stopped.reason, stopped.message);
  const waits = waitingHold(parts, asked);
  if (waits !== undefined) return await held(parts, asked, waits, signal);
  requireSupported(deployment);
  if (deployment.destroy.enabled) return await destroyed(parts, asked, signal);
  const swarm = await swarmNow(parts, asked, signal);
  const recorded = parts.ledger.current(key);
  const isNobodys = recorded === undefined && recordedOwner(parts.ledger, key) === undefined;
  const target = { ...asked, isNobodys, ...(swarm === undefined ? {} : { swarm }) };
  await requireChangeableMode(parts, target, recorded, signal);
  requireNotAnothers(parts, target);
  if (recorded === undefined) requireRoomForStack(parts, target);
  const hold = await pinHold(parts, target, signal);
  if (hold !== undefined) return await held(parts, target, hold, signal);
  if (recorded !== undefined && await isSuperseded(parts, target, recorded, signal)) {
    return skip("superseded", `a newer commit of ${revision.reference} is already deployed`);
  }
  target.progress("looking at what runs");
  const observed = await look(parts, target, signal);
  await requireOwnership(parts, target, observed, signal);
  const resolved = await resolveSecrets(parts, target, signal);
  const { forceRecreate, forceImagePull } = deployment;
  const changes = recorded &&
    await changesSince(parts, resolved, parts.ledger.closure(recorded), signal);
  const looksAnyway = forceImagePull || (forceRecreate && asked.origin === "manual");
  if (changes?.length === 0 && recorded !== undefined && !looksAnyway) {
    const plan = await planUnchanged(parts, target, { recorded, observed, mark });
    if (plan !== undefined) return { kind: "skip", plan, changes };
  }
  const found = { recorded, observed, mark, changes };
  const decided = await decideRendered(parts, resolved, found, signal);
  const { containers } = observed;
  const adopts = containers.length > 0 && !containers.some(isOurs);
  return { ...decided, changes: changes ?? [], ...(decided.kind === "deploy" ? { adopts } : {}) };
}

/** The plan to keep a deployed release of equal inputs; `undefined` where it needs changes. */
async function planUnchanged(
  parts: PipelineParts,
  target: Target,
  { recorded, observed, mark }: Omit<Found, "changes"> & { readonly recorded: RecordedRelease },
): Promise<Plan & { readonly kind: "skip" } | undefined> {
  const { key, deployment: { removeOrphans }, swarm } = target;
  const shown = parts.ledger.shown(recorded);
  const deployed = shown.services;
  const policy = { removeOrphans };
  const ranBefore = parts.ledger.ranBefore(key);
  const compared = planFor(shown, observed, { kind: "wanted", deployed, policy, ranBefore });
  const plan = await withFiles(parts, key, { release: shown }, compared);
  if (plan.kind !== "skip" || !isSameMode({ ...(swarm && { swarm }) }, recorded)) return undefined;
  moveRevision(parts, target, recorded, mark);
  parts.ledger.failures.clearOthers(key, recorded.digest);
  return plan;
}

type Rendered = Pick<
  Extract<Decision, { readonly kind: "deploy" }>,
  "prepared" | "plan" | "observed"
>;

/** The decision for a target that must be rendered; a deployment's images are prepared. */
async function decideRendered(
  parts: PipelineParts,
  target: ResolvedTarget,
  found: Found,
  signal: AbortSignal,
): Promise<Decision> {
  const { observed } = found;
  const prepared = await prepareRelease(parts, target, signal);
  const { release } = prepared;
  const { plan, pulled } = await planRendered(parts, target, { prepared, ...found }, signal);
  if (plan.kind === "skip") {
    remember(parts, prepared, found);
    parts.ledger.failures.clearOthers(target.key, release.digest);
    return { kind: "skip", plan, changes: [], wanted: release };
  }
  const closed = targetWindowHold(parts, target, plan.services);
  if (closed !== undefined) return await held(parts, target, closed, signal);
  const retry = retryOf(parts, target, release.digest);
  if (retry.kind === "attempt") {
    const isDeployed = found.recorded?.digest === release.digest;
    const ran = isDeployed ? found.recorded?.images : {};
    const images = { plan, observed, pulled, ...(ran && { deployed: ran }) };
    return await deployed(parts, target, { prepared, ...images }, retry.isRetry, signal);
  }
  const failure = parts.ledger.failures.get(target.key)?.message;
  // The poll that finds the delay over is the next one, at the earliest.
  const hold = { ...retryHold(retry, failure, plan), ...nextAttempt(parts, target, retry) };
  return await held(parts, target, hold, signal);
}

/**
 * The plan for a rendered release, with the changes that comparing digests does not show, and the ids of images
 * that were pulled for it.
 */
async function planRendered(
  parts: PipelineParts,
  target: ResolvedTarget,
  { prepared, recorded, observed, changes }: Found & { readonly prepared: PreparedRelease },
  signal: AbortSignal,
): Promise<{ readonly plan: Plan; readonly pulled: ImageIds }> {
  const { release } = prepared;
  const { deployment: { forceRecreate, removeOrphans }, key, origin } = target;
  const digests = { deployed: recorded?.digest, wanted: release.digest };
  const forced = forceRecreate ? whyForced({ origin, changes, ...digests }) : undefined;
  const policy = { forced, removeOrphans };
  const owner = volumesOwner(parts, target);
  await requireNothingForeign(parts, { ...target, owner }, release.model, signal);
  const isDeployed = recorded?.digest === release.digest;
  const refresh = () => refreshImages(parts, target, { prepared, isDeployed }, signal);
  // What is not tried now needs no images: to ask for them is a part of what failed.
  const waits = !isDeployed && retryOf(parts, target, release.digest).kind === "wait";
  const images = waits
    ? {}
    : await remembering(parts, key, attemptOf(target, release.digest), refresh, signal);
  const deployed = recorded && parts.ledger.services(recorded);
  const ran = recorded?.images ?? {};
  const ranBefore = parts.ledger.ranBefore(key);
  const why = { kind: "wanted", deployed, policy, images, ran, ranBefore } as const;
  const planned = planFor(release, observed, why);
  const failed = parts.ledger.failures.get(key, askingSource(target))?.release;
  const earlier = { failed, deployed: recorded?.digest, observed };
  const decided = planAfterFailure(release, planned, earlier);
  const previousModel = once(() => recorded && parts.ledger.open(recorded).model);
  const networks = changedNetworks(release.model, prepared.networks, previousModel);
  const made = { release, networks };
  const connected = await withNetworks(parts, made, decided, earlier, signal);
  const plan = await withFiles(parts, key, prepared, connected);
  if (release.swarm !== undefined && plan.kind === "deploy") {
    await requireDataHere(parts, release, signal);
  }
  const jobs = plan.kind === "deploy" ? await jobsToAwait(parts, target, signal) : [];
  const settled = release.swarm === undefined
    ? await withContainers(parts, { ...made, neighbours: target.neighbours }, {
      ...{ plan, observed, previousModel, jobs },
    }, signal)
    : plan;
  const told = tellingOthers(parts, key, onceEnded(settled, jobs), observed);
  return { plan: planOfChange(told, release, recorded ?? release), pulled: images };
}

/** A plan that waits for jobs, which says so. */
function onceEnded(plan: Plan, jobs: readonly ObservedContainer[]): Plan {
  if (jobs.length === 0) return plan;
  const names = fewOf(jobs.map(({ name }) => name));
  return { ...plan, message: `${plan.message}; once the running jobs have ended: ${names}` };
}

/** The decision to deploy, after its images were brought to the engine. */
async function deployed(
  parts: PipelineParts,
  target: ResolvedTarget,
  { prepared, ...planned }: Rendered & Parameters<typeof prepareImages>[3],
  isRetry: boolean,
  signal: AbortSignal,
): Promise<Decision> {
  const { release } = prepared;
  const { plan, observed } = planned;
  await warnOfForeignStops(parts, target, release, signal);
  const asker = { owner: volumesOwner(parts, target), discovered: target.discovered };
  await requireFree(parts, release, { plan, observed, ...asker }, signal);
  const images = await remembering(
    parts,
    target.key,
    attemptOf(target, release.digest),
    () => prepareImages(parts, target, prepared, planned, signal),
    signal,
  );
  return { kind: "deploy", plan, prepared, observed, images, adopts: false, isRetry, changes: [] };
}

async function destroyed(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Decision> {
  const { key, deployment: { destroy }, neighbours = NOBODY, foretold } = target;
  const observed = await observeAnyway(parts, key, signal);
  const facts = removalFacts(parts, key, { ...destroy, ...neighbours });
  const verdict = decideRemoval(foretold === undefined ? facts : afterTurns(facts, foretold));
  const asked = {
    by: ownerFrom(target.configuration),
    found: target.discovered,
    because: "destroy is set",
    verdict,
    when: whenRemoved(facts, verdict),
    observed,
  };
  const plan = await decideDestroy(parts, key, asked, signal);
  if (plan.kind === "skip") return { kind: "skip", plan, changes: [] };
  const closed = targetWindowHold(parts, target, plan.services);
  if (closed !== undefined) return await held(parts, target, closed, signal);
  const failed = removalHold(parts, key, { ...target, wish: removalWish(target) }, plan);
  // Without a repair: of what is to be removed a part may be gone.
  return failed === undefined
    ? { kind: "destroy", plan, facts, verdict, changes: [] }
    : heldAs(failed);
}

const NOBODY = { wanted: [], complete: true };

/** The decision about a target that is held: nothing to do, or a repair of its deployed release. */
export async function held(
  parts: PipelineParts,
  target: Target,
  hold: Hold,
  signal: AbortSignal,
): Promise<Decision> {
  const decided = await decideHeld(parts, target, hold, signal);
  return decided.kind === "repair" ? { ...decided, changes: [] } : heldAs(decided.hold);
}

function heldAs({ reason, message, services, retryAt }: Hold): Decision {
  return {
    kind: "skip",
    plan: { kind: "skip", reason, message, services },
    changes: [],
    ...(retryAt === undefined ? {} : { retryAt }),
  };
}

/** An attempt at a target's release. Exempt is an external resource that this run may still make. */
function attemptOf(target: Target, release: string): Attempt {
  const isExempt = (error: unknown) => target.mayLack === true && lacksExternal(error);
  return { release, source: askingSource(target), isExempt, ...paceOf(target) };
}
