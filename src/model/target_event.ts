import type { TargetDecision } from "./decision.ts";
import type { StackwrightError } from "./error.ts";
import type { SkipReason } from "./plan.ts";
import type { Revision } from "./revision.ts";
import type { StackKey } from "./stack_key.ts";

/** The target of events, and who is behind them. */
export interface ToldTarget extends Pick<TargetDecision, "trigger" | "origin"> {
  readonly key: StackKey;
  /** Name of the repository that the stack is deployed from. */
  readonly repository: string;
  /** The configuration that asks for it; absent where a recorded release is acted on. */
  readonly configuration?: Revision;
}

/** A decision as listeners get it, with the time of the next automatic attempt. */
export type ToldDecision =
  & Pick<TargetDecision, "kind" | "reason" | "message" | "changes" | "services">
  & { readonly retryAt?: Date };

/** The end of a target. */
export interface TargetEnd {
  /** `skipped` also for a repair while a newer release is held back. */
  readonly status: "succeeded" | "failed" | "skipped";
  readonly message: string;
  /** Reason of a skip, where it differs from the decision's. */
  readonly reason?: SkipReason;
  /** Time of the automatic retry of a failure; for a skip, the decision has it. */
  readonly retryAt?: Date;
  /** The error that prevented a decision, or its execution. */
  readonly error?: StackwrightError;
  /** Set where the stack is another poll's: that it was refused is no decision about it. */
  readonly isOthers?: boolean;
}

/**
 * Events of a target, in this order: pending, admitted, steps, decided, started (containers are
 * about to change), ended. Steps come at any time; `decided` and `started` may come again when
 * another process changed the stack meanwhile.
 */
export type TargetNews =
  | { readonly kind: "pending" | "admitted" | "started" }
  | { readonly kind: "step"; readonly text: string }
  | { readonly kind: "decided"; readonly decision: ToldDecision }
  | { readonly kind: "ended"; readonly end: TargetEnd };

/** An event of a target, with the revision that it is about. */
export type TargetEvent = TargetNews & { readonly revision: Revision };

/**
 * Listens to targets: called once for each target, it returns a function for the events of that
 * one. Throwing at `decided` prevents the decision from being carried out; at later events a
 * listener must not throw, since the change is made already.
 */
export type TargetListener = (target: ToldTarget) => (event: TargetEvent) => void;
