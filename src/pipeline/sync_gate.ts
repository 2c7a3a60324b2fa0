import { once } from "../system/mod.ts";
import {
  isEqualOwner,
  isSameOwner,
  ownerFrom,
  type SourceRequest,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import { deferredBy, type Hold, type SyncSubject } from "../plan/mod.ts";
import type { Target } from "../prepare/mod.ts";
import { recordedOwner } from "../record/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { isStrangers } from "./stack_owner.ts";

type GateParts = Pick<PipelineParts, "windows" | "clock" | "log" | "meter" | "ledger">;
type GateSubject = Omit<SyncSubject, "deployment" | "context"> & { readonly key: StackKey };

/** The hold of a change that sync windows do not allow now. Counts it as blocked, and logs it. */
export function windowHold(
  parts: GateParts,
  subject: GateSubject,
  services: Hold["services"],
): Hold | undefined {
  const { key, repositories: [repository = ""] } = subject;
  const { windows, nextOpen: retryAt, allowed, manualOverride } = decideNow(parts, subject);
  const log = parts.log.with({ stack: key.name, context: key.context });
  const bypass = `sync window bypassed by manual deployment: ${windows.join(", ")}`;
  if (manualOverride) log.info(bypass);
  if (allowed) return undefined;
  for (const window of windows) {
    const labels = { repository, deployment: key.name, context: key.context, window };
    parts.meter.count("sync_window_blocked_total", labels);
  }
  const message = deferredBy(windows, retryAt);
  const isNews = parts.ledger.decisions.of(key, 1)[0]?.reason !== "sync_window";
  log[isNews ? "info" : "debug"](`deployment ${message}`);
  return { reason: "sync_window", message, services, ...(retryAt && { retryAt }) };
}

function decideNow(
  { windows, clock }: Pick<GateParts, "windows" | "clock">,
  { key, repositories, origin }: GateSubject,
) {
  const asked = { repositories, deployment: key.name, context: key.context, origin };
  return windows.decide(asked, clock.now());
}

/** The hold of a target; windows may name its own repository, or that of its configuration. */
export function targetWindowHold(
  parts: GateParts,
  target: Target,
  services: Hold["services"],
): Hold | undefined {
  return windowHold(parts, subjectOf(target), services);
}

function subjectOf({ key, revision, configuration, origin }: Target): GateSubject {
  return { key, repositories: [revision.source.name, configuration.source.name], origin };
}

/** True when a window has closed since the decision: waiting for a slot takes time. */
export function hasClosed(parts: Pick<GateParts, "windows" | "clock">, target: Target): boolean {
  return !decideNow(parts, subjectOf(target)).allowed;
}

/**
 * Queues a deployment that a window defers, if that is enabled; any other decision takes what its
 * repository and branch asked for out of the queue. A stack's owner decides for all. Ignores targets of
 * others: a hold may precede that check.
 */
export function noteDeferred(
  { ledger, options }: Pick<PipelineParts, "ledger" | "options">,
  { target, request }: {
    readonly target: Pick<Target, "key" | "trigger" | "origin" | "configuration">;
    readonly request: SourceRequest;
  },
  hold: Pick<Hold, "reason" | "retryAt"> | undefined,
): void {
  const { key, trigger, configuration } = target;
  // Asked for only where something waits: mostly nothing does.
  const recorded = once(() => recordedOwner(ledger, key));
  const isAnothers = once(() => isStrangers({ ledger }, target, recorded()));
  const asker = ownerFrom(configuration);
  const isSettled = (other: StackOwner) =>
    !isAnothers() && (recorded() !== undefined || isSameOwner(other, asker));
  if (!options.queuesDeferred || hold?.reason !== "sync_window") {
    return ledger.deferred.remove(key, isSettled);
  }
  if (isAnothers()) return;
  const { retryAt } = hold;
  ledger.deferred.set(key, { trigger, request, asker, ...(retryAt && { retryAt }) });
  ledger.deferred.remove(key, (other) => isSettled(other) && !isEqualOwner(other, asker));
}
