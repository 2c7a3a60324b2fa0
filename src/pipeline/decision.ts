import {
  type InputChange,
  type ObservedStack,
  type Plan,
  type Release,
  type SkipReason,
  type StackKey,
  type TargetEnd,
  type TargetListener,
  type ToldDecision,
  withSequel,
} from "../model/mod.ts";
import type { RolloutResult } from "../deploy/mod.ts";
import { type HeldDecision, stoppedHold, waitingHold } from "./hold.ts";
import type { PreparedRelease, Target } from "../prepare/mod.ts";
import type { Goes, Hold, RemovalFacts } from "../plan/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { isStrangers } from "./stack_owner.ts";
import type { Teller } from "../tell/mod.ts";

/** The decision about a target, made before anything is changed. */
export type Decision =
  & { readonly changes: readonly InputChange[] }
  & (
    | {
      readonly kind: "skip";
      readonly plan: Plan & { readonly kind: "skip" };
      /** Time at which an automatic attempt may be made again. */
      readonly retryAt?: Date;
      /** The release that the source wants; only where the target was rendered. */
      readonly wanted?: Release;
    }
    /** The deployed release is repaired; the one that the source wants is held back. */
    | (HeldDecision & { readonly kind: "repair" })
    | {
      readonly kind: "destroy";
      readonly plan: Plan & { readonly kind: "destroy" };
      readonly facts: RemovalFacts;
      readonly verdict: Goes;
    }
    | {
      readonly kind: "deploy";
      readonly plan: Plan;
      readonly prepared: PreparedRelease;
      readonly observed: ObservedStack;
      /** Images by service: with digests for a swarm, and those that were built for containers. */
      readonly images: Readonly<Record<string, string>>;
      readonly adopts: boolean;
      /** Whether it is an automatic retry of a release that failed before. */
      readonly isRetry: boolean;
    }
  );

/** A decision as one line. */
export function messageFor(decision: Decision): string {
  const { message } = decision.plan;
  if (decision.kind !== "repair") return message;
  const { hold, recorded } = decision;
  return `${hold.message}; release ${recorded.number} is repaired: ${message}`;
}

/** A decision to do nothing, without plans for services. */
export function skip(reason: SkipReason, message: string): Decision & { readonly kind: "skip" } {
  return { kind: "skip", plan: { kind: "skip", reason, message, services: [] }, changes: [] };
}

/** A decision to wait, without plans for services. */
export function waiting({ reason, message, retryAt }: Hold): ReturnType<typeof skip> {
  return { ...skip(reason, message), ...later(retryAt) };
}

/**
 * The decision about a target that is held anyway, where the stack is another's: it need not wait for
 * those who are at work on that, and is no conflict.
 */
export function heldAnyway(
  parts: Pick<PipelineParts, "ledger">,
  target: Target,
): ReturnType<typeof skip> | undefined {
  if (!isStrangers(parts, target)) return undefined;
  const hold = stoppedHold(parts, target) ?? waitingHold(parts, target);
  return hold && waiting(hold);
}

/** The decision about a target for which a later run of its configuration waits as well, and looks at it then. */
export function overtaken({ name }: StackKey): ReturnType<typeof skip> {
  return skip("superseded", `${name} is busy, and left to a later run, which waits for it as well`);
}

/** A decision in the form that listeners get. */
export function toldDecision(decision: Decision): ToldDecision {
  const { changes, plan } = decision;
  const told = { message: messageFor(decision), services: plan.services, changes };
  if (decision.kind === "repair") {
    const { reason, retryAt } = decision.hold;
    return { kind: "repair", reason, ...told, ...later(retryAt) };
  }
  if (decision.kind !== "skip") return { kind: plan.kind, ...told };
  return { kind: "skip", reason: decision.plan.reason, ...told, ...later(decision.retryAt) };
}

function later(retryAt: Date | undefined): { readonly retryAt?: Date } {
  return retryAt === undefined ? {} : { retryAt };
}

/** The reason why a decision holds back, and the time until which. */
export function holdOf(decision: Decision): Pick<Hold, "reason" | "retryAt"> | undefined {
  if (decision.kind === "repair") return decision.hold;
  if (decision.kind !== "skip") return undefined;
  const { plan: { reason }, retryAt } = decision;
  return { reason, ...(retryAt === undefined ? {} : { retryAt }) };
}

/** The end of a target after a rollout: `done` for success, else the failure after `tried`. */
export function endOf(result: RolloutResult, done: string, tried?: string): TargetEnd {
  if (result.kind === "deployed") return { status: "succeeded", message: done };
  const message = withSequel(result.error.message, result.text);
  return { status: "failed", message: tried === undefined ? message : `${tried}: ${message}` };
}

/** Tells of a target that is left as it is, and what was finished of it before. */
export function leave(
  teller: Teller,
  decision: Decision & { readonly kind: "skip" },
  resumed: readonly string[] = [],
): "done" {
  const { reason, message } = decision.plan;
  const isDone = reason === "no_changes" || reason === "nothing_to_destroy";
  const told = isDone ? [...resumed, message].join("; then ") : message;
  teller.tell({ kind: "decided", decision: toldDecision(decision) });
  teller.tell({ kind: "ended", end: { status: "skipped", message: told } });
  return "done";
}

/** A listener that keeps what succeeded, in words. */
export function doneListener(done: string[]): TargetListener {
  return () => (news) => {
    if (news.kind === "ended" && news.end.status === "succeeded") done.push(news.end.message);
  };
}
