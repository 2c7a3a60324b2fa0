import { look, type ReleaseOnDisk } from "../deploy/mod.ts";
import {
  askingSource,
  type FailureRecord,
  formatPersonHold,
  formatPersonStop,
  messageOf,
  type ObservedStack,
  type Plan,
  type SourceRequest,
  type StackKey,
} from "../model/mod.ts";
import {
  decideRetry,
  failedBefore,
  type Hold,
  pausedHold,
  planFor,
  type RetryDecision,
  type RetryInput,
  UNTIL_DONE,
} from "../plan/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { notOwners } from "../record/mod.ts";
import { bringToDisk } from "./placed_files.ts";
import type { PipelineParts } from "./parts.ts";
import { requireImages, type Target } from "../prepare/mod.ts";
import { sourceKey } from "../source/mod.ts";
import { tellingOthers } from "./owner/others_release.ts";
import { requireFree } from "./owner/require_free.ts";
import { withFiles } from "./beyond_digests.ts";
import { pointImages } from "./stack_mode.ts";
import { isStrangers, requireOwnership } from "./stack_owner.ts";

/** The hold of a stack that a person stopped: nothing of it is repaired, either, but it may be removed. */
export function stoppedHold(
  { ledger }: Pick<PipelineParts, "ledger">,
  { key, deployment: { pause, destroy } }: Pick<Target, "key" | "deployment">,
): Hold | undefined {
  if (!pause && destroy.enabled) return undefined;
  const stopped = ledger.stops.get(key);
  return stopped && pausedHold(formatPersonStop(key, stopped), "stopped over the API");
}

/** The hold of a stack that a person holds: its deployed release is still repaired. */
export function personHold(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
): Hold | undefined {
  const hold = ledger.holds.get(key);
  if (hold === undefined) return undefined;
  const told = hold.reason === "" ? "" : `: ${hold.reason}`;
  const paused = pausedHold(
    `${key.name} is ${formatPersonHold(hold, key)}`,
    `held by a person${told}`,
  );
  return hold.until === undefined ? paused : { ...paused, retryAt: hold.until };
}

/** The hold of a target that waits for a person, or for the end of its pause. */
export function waitingHold(
  parts: Pick<PipelineParts, "ledger">,
  { key, deployment }: Pick<Target, "key" | "deployment">,
): Hold | undefined {
  return personHold(parts, key) ??
    (deployment.pause ? pausedHold(`deployment ${key.name} is paused`) : undefined);
}

/** The decision about a held target: nothing to do, or a repair of its deployed release. */
export type HeldDecision =
  | { readonly kind: "skip"; readonly hold: Hold }
  | {
    readonly kind: "repair";
    readonly hold: Hold;
    readonly plan: Plan;
    readonly onDisk: ReleaseOnDisk;
    readonly recorded: RecordedRelease;
    readonly observed: ObservedStack;
    /** Whether its outcome is recorded: not while the recorded failure is another release's. */
    readonly remembers: boolean;
  };

/**
 * Decides about a held target. A held update is no reason to leave a stack broken: what is missing
 * of the deployed release comes back, and nothing newer. A returned repair has its files and images
 * there; nothing that runs was changed.
 *
 * An engine that does not answer changes no hold: nobody asked for a repair, so nobody gets an error.
 */
export async function decideHeld(
  parts: PipelineParts,
  target: Target,
  hold: Hold,
  signal: AbortSignal,
): Promise<HeldDecision> {
  const { key } = target;
  const recorded = parts.ledger.current(key);
  if (recorded === undefined || isStrangers(parts, target) || isMixed(parts, recorded)) {
    return { kind: "skip", hold };
  }
  if (notOwners(parts.ledger, recorded) !== undefined) return { kind: "skip", hold };
  // A repair would close it: a rollback would end with its pin, and what it goes back from would come back.
  if (parts.ledger.isUnderWay(key)) {
    const message = `${hold.message}; its last change was interrupted, and is finished first`;
    return { kind: "skip", hold: { ...hold, message } };
  }
  let observed: ObservedStack;
  try {
    const { swarm } = recorded;
    observed = await look(parts, { ...target, ...(swarm && { swarm }) }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const message = `${hold.message}; whether it runs is not known: ${messageOf(error)}`;
    return { kind: "skip", hold: { ...hold, message } };
  }
  const shown = parts.ledger.shown(recorded);
  const missing = planFor(shown, observed, { kind: "repaired" });
  const plan = await withFiles(parts, key, { release: shown }, missing);
  if (plan.kind === "skip") return { kind: "skip", hold };
  await requireOwnership(parts, target, observed, signal);
  return await prepareRepair(parts, target, { hold, plan, recorded, observed }, signal);
}

/** True when another release failed and its containers stayed: rollback was off, or failed. */
export function isMixed(parts: PipelineParts, recorded: RecordedRelease): boolean {
  const [newest] = parts.ledger.history(recorded.key, 1);
  return newest?.status === "failed" && newest.digest !== recorded.digest;
}

/** A repair of the release that is deployed. */
type Repair = Pick<
  Extract<HeldDecision, { readonly kind: "repair" }>,
  "hold" | "plan" | "recorded" | "observed"
>;

/**
 * Brings the files and images that a repair needs to disk and to the engine, unless a repair failed
 * lately. Nothing that runs is changed. Throws what fetching throws.
 */
export async function prepareRepair(
  parts: PipelineParts,
  target: Pick<Target, "key" | "origin" | "progress">,
  repair: Repair,
  signal: AbortSignal,
): Promise<HeldDecision> {
  const { hold, recorded, observed } = repair;
  const { key, origin, progress } = target;
  const plan = tellingOthers(parts, key, repair.plan, observed);
  const stays = (why: string): HeldDecision => {
    const message = `${hold.message}; release ${recorded.number} needs ${plan.message}, ${why}`;
    return { kind: "skip", hold: { ...hold, message } };
  };
  const failure = parts.ledger.failures.get(key, askingSource(recorded));
  const asked = { ...UNTIL_DONE, release: recorded.digest, failure, origin };
  const again = decideRetry({ ...asked, now: parts.clock.now() });
  if (again.kind === "wait") return stays("which failed before and is tried again later");
  progress("preparing a repair");
  const onDisk = await bringToDisk(parts, recorded, signal);
  if (onDisk === undefined) return stays("but its files are neither on disk nor in the mirror");
  await requireFree(parts, onDisk.release, { plan, observed }, signal);
  const { images } = recorded;
  await pointImages(parts, onDisk.release, images, signal);
  await requireImages(parts, onDisk, { services: plan.services, progress, images }, signal);
  const remembers = failure === undefined || failure.release === recorded.digest;
  return { kind: "repair", ...repair, plan, onDisk, remembers };
}

/** Whether a release may be attempted now: failed ones are not retried in a tight loop. */
export function retryOf(
  { ledger, clock }: PipelineParts,
  target: Target,
  release: string,
): RetryDecision {
  const failure = ledger.failures.get(target.key, askingSource(target));
  return decideRetry({ ...paceOf(target), release, failure, now: clock.now() });
}

/** How attempts at a target are paced: by whom it is asked for, and what its author set. */
export function paceOf(
  { origin, since, deployment: { retry }, declared }: Target,
): Pick<RetryInput, "origin" | "since" | "retry" | "delayGiven"> {
  return { origin, since, retry, delayGiven: declared.given.has("retry.delay") };
}

/** What a plan says of a release that failed before, as {@link failedBefore}; empty for others. */
export function releaseFailedBefore(
  parts: PipelineParts,
  target: Target,
  release: string,
  request: SourceRequest,
): string {
  const { ledger, options: { polled } } = parts;
  const failure = ledger.failures.get(target.key, askingSource(target));
  if (failure?.release !== release) return "";
  const [last] = ledger.decisions.of(target.key, 1);
  // After a webhook the service tries it by itself, as the outcome tells.
  const { retryAt: poll } = nextAttempt(parts, { ...target, trigger: "poll" }, undefined);
  const isLeft = (last?.outcome?.retryAt ?? poll) === undefined &&
    polled.some((each) => sourceKey(each) === sourceKey(request));
  const again = retryOf(parts, { ...target, origin: "automatic" }, release);
  return failedBefore(failure, again, { isLeft });
}

/**
 * The time of the automatic retry of a target that failed: after a webhook, where a failure was recorded
 * since `before`, otherwise it was not the release that failed.
 */
export function again(
  parts: PipelineParts,
  target: Target,
  before?: FailureRecord,
): { readonly retryAt?: Date } {
  const failure = parts.ledger.failures.get(target.key, askingSource(target));
  const isOld = before?.release === failure?.release && before?.failures === failure?.failures;
  const decided = failure === undefined || isOld
    ? undefined
    : retryOf(parts, { ...target, origin: "automatic" }, failure.release);
  return nextAttempt(parts, target, decided);
}

/** What is attempted, and why. */
export type Attempted = Pick<Target, "trigger" | "configuration" | "configTarget">;

/**
 * The time of an automatic attempt by the verdict on it, which is `undefined` where no failure was recorded.
 * A source that is polled is tried again by a poll, at the earliest by the next one. Empty when its
 * retries are used up.
 */
export function nextAttempt(
  { clock, options }: Pick<PipelineParts, "clock" | "options">,
  { trigger, configuration: { source, reference }, configTarget: target }: Attempted,
  decided: RetryDecision | undefined,
): { readonly retryAt?: Date } {
  const isPoll = trigger !== "webhook";
  const place = { repository: source.name, reference, target };
  const poll = isPoll ? options.nextPoll(place) : undefined;
  if (isPoll && poll === undefined) return {};
  if (decided === undefined) return poll === undefined ? {} : { retryAt: poll };
  if (decided.kind === "wait" && decided.reason !== "delay") return {};
  const at = decided.kind === "wait" ? decided.retryAt : clock.now();
  return { retryAt: poll !== undefined && poll > at ? poll : at };
}
