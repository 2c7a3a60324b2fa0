import {
  type DecisionOutcome,
  formatRevision,
  type RunReporter,
  type RunTarget,
  type TargetDecision,
} from "../model/mod.ts";
import { type Decision, messageFor } from "./decide_target.ts";
import type { PipelineParts } from "./parts.ts";
import { isStrangers } from "./stack_owner.ts";
import type { Target } from "../prepare/mod.ts";

/** Remembers who may remove a stack when nothing names it any more. */
export function noteDiscovered(parts: PipelineParts, target: Target, decision: Decision): void {
  const { key, discovered } = target;
  const exists = decision.kind === "deploy" ||
    (decision.kind === "skip" && decision.plan.reason === "no_changes");
  if (!exists) return;
  if (discovered === undefined) parts.ledger.discovered.remove(key);
  else parts.ledger.discovered.set(discovered);
}

/**
 * Every trigger leaves its decision, the ones to do nothing included. Returns the number of its entry
 * in the log; `undefined` for a stack of another owner, of which a stranger says nothing.
 */
export function noteDecision(
  parts: PipelineParts,
  target: Target,
  decision: Decision,
): number | undefined {
  if (isStrangers(parts, target)) return undefined;
  const { trigger, origin, key } = target;
  return parts.ledger.decisions.add(key, {
    trigger,
    origin,
    revision: formatRevision(target.revision),
    ...whatIsDecided(decision),
    changes: decision.changes,
  }, parts.clock.now());
}

function whatIsDecided(
  decision: Decision,
): Pick<TargetDecision, "kind" | "reason" | "message" | "services"> {
  const { plan } = decision;
  const { services } = plan;
  const message = messageFor(decision);
  if (decision.kind === "repair") {
    return { kind: "repair", reason: decision.hold.reason, message, services };
  }
  const reason = plan.kind === "skip" ? { reason: plan.reason } : {};
  return { kind: plan.kind, ...reason, message, services };
}

/** A reporter that also notes in the log of decisions what became of entry `id`. */
export function notingOutcome(
  parts: PipelineParts,
  id: number | undefined,
  reporter: RunReporter,
): RunReporter {
  if (id === undefined) return reporter;
  return {
    describe: (facts) => reporter.describe(facts),
    target(entry) {
      const { status, message = "" } = entry;
      // A repair ends as skipped: what the source wants is held back all the same.
      if (status === "failed") noteOutcome(parts, id, { status, message });
      else if (isFinal(status)) noteOutcome(parts, id, { status: "succeeded", message });
      reporter.target(entry);
    },
  };
}

function isFinal(status: RunTarget["status"]): boolean {
  return status === "succeeded" || status === "skipped";
}

function noteOutcome(parts: PipelineParts, id: number, outcome: DecisionOutcome): void {
  try {
    parts.ledger.decisions.end(id, outcome);
  } catch (error) {
    // What was done is done; that it cannot be told must not make it a failure.
    parts.log.warning("the outcome of a decision could not be recorded", { error });
  }
}

/**
 * What kept a decision from being made is worth explaining too, unless the stack is another owner's:
 * that a stranger was refused is no state of it. `attempt` is the entry of the decision that was being
 * carried out.
 */
export function noteFailure(
  parts: PipelineParts,
  target: Pick<Target, "key" | "revision" | "configuration" | "trigger" | "origin">,
  message: string,
  attempt?: number,
): void {
  if (isStrangers(parts, target)) return;
  if (attempt !== undefined) noteOutcome(parts, attempt, { status: "failed", message });
  const { trigger, origin, key } = target;
  const revision = formatRevision(target.revision);
  const nothing = { changes: [], services: [] };
  try {
    const decision = { trigger, origin, revision, kind: "error" as const, message, ...nothing };
    parts.ledger.decisions.add(key, decision, parts.clock.now());
  } catch (error) {
    // A full disk may be the very failure that is being told.
    parts.log.warning("the decision could not be recorded", { stack: key.name, error });
  }
}
