import {
  formatRevision,
  type Revision,
  type TargetDecision,
  type TargetEnd,
  type TargetListener,
  type ToldTarget,
} from "../model/mod.ts";
import type { DecisionLog } from "../record/mod.ts";
import type { Clock, Log } from "../system/mod.ts";

interface DecisionListenerParts {
  readonly decisions: Pick<DecisionLog, "add" | "end">;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the stack has another owner: the refusal of a stranger is no decision about it. */
  readonly isStrangers: (target: ToldTarget) => boolean;
}

/**
 * Makes the listener that records every decision, also those to do nothing, with its outcome. A decision to do
 * nothing ends the one before it, which is not carried out then. An error that prevented a decision or its
 * execution gets an entry of its own. Records nothing for targets whose stack has another owner, or is another
 * poll's.
 */
export function decisionListener(parts: DecisionListenerParts): TargetListener {
  const { decisions, log, isStrangers } = parts;
  return (target) => {
    /** The decision that is being carried out, with the id of its entry. */
    let attempt: Pick<TargetDecision, "kind"> & { readonly id: number } | undefined;
    const note = (work: () => void) => noteEnd(log, target.key, work);
    const end = (
      { status, message, retryAt }: Pick<TargetEnd, "status" | "message" | "retryAt">,
    ) => {
      const id = attempt?.id;
      attempt = undefined;
      if (id === undefined) return;
      const again = retryAt === undefined ? {} : { retryAt: retryAt.toISOString() };
      note(() => decisions.end(target.key, id, { status, message, ...again }));
    };
    return (event) => {
      if (event.kind === "decided") {
        const { retryAt: _retryAt, ...decided } = event.decision;
        const { kind, message } = decided;
        if (kind === "skip") end({ status: "skipped", message });
        attempt = undefined;
        if (isStrangers(target)) return;
        const id = add(parts, target, event.revision, decided);
        if (kind !== "skip") attempt = { id, kind };
      } else if (event.kind === "ended") {
        const { status, message, error, isOthers = false } = event.end;
        // A repair ends as skipped, as what the source wants is held back; it counts as success.
        const isRepaired = status === "skipped" && attempt?.kind === "repair";
        end(isRepaired ? { ...event.end, status: "succeeded" } : event.end);
        if (error === undefined || isOthers || isStrangers(target)) return;
        const { code } = error;
        const failed = { kind: "error", code, message, changes: [], services: [] } as const;
        note(() => void add(parts, target, event.revision, failed));
      }
    };
  };
}

function add(
  { decisions, clock }: DecisionListenerParts,
  { key, trigger, origin }: ToldTarget,
  revision: Revision,
  decided: Pick<TargetDecision, "kind" | "reason" | "code" | "message" | "changes" | "services">,
): number {
  const decision = { trigger, origin, revision: formatRevision(revision), ...decided };
  return decisions.add(key, decision, clock.now());
}

function noteEnd(log: Log, { name: stack, context }: ToldTarget["key"], work: () => void): void {
  try {
    work();
  } catch (error) {
    // The disk may be full, which may be the failure itself; finished work stays done.
    log.warning("what became of a decision could not be recorded", { stack, context, error });
  }
}
