import type { TargetDecision } from "./decision.ts";
import type { StackwrightError } from "./error.ts";
import type { SkipReason } from "./plan.ts";
import type { Revision } from "./revision.ts";
import type { StackKey } from "./stack_key.ts";

/** A stack that something becomes of, and who is behind it. */
export interface ToldTarget extends Pick<TargetDecision, "trigger" | "origin"> {
  readonly key: StackKey;
  /** Name of the repository it is deployed from. */
  readonly repository: string;
  /** The configuration in whose name it is asked for; absent of a person who asks for a release. */
  readonly configuration?: Revision;
}

/** A decision as it is told: with when an automatic attempt may be made again. */
export type ToldDecision =
  & Pick<TargetDecision, "kind" | "reason" | "message" | "changes" | "services">
  & { readonly retryAt?: Date };

/** The end of what was done about a target. */
export interface TargetEnd {
  /** `skipped` also where a repair was made while what the source wants is held back. */
  readonly status: "succeeded" | "failed" | "skipped";
  readonly message: string;
  /** Reason of a skip, where it is not that of the decision. */
  readonly reason?: SkipReason;
  /** Time at which what failed is tried again by itself; a skip has that from its decision. */
  readonly retryAt?: Date;
  /** The error that kept the target from being decided about, or its decision from being tried. */
  readonly error?: StackwrightError;
}

/**
 * News of a target, in this order: it waits, it has its turn, steps, the decision, the start of what
 * changes containers, the end. Steps come at any time; the decision and the start may come again when
 * another process changed the stack meanwhile.
 */
export type TargetNews =
  | { readonly kind: "pending" | "admitted" | "started" }
  | { readonly kind: "step"; readonly text: string }
  | { readonly kind: "decided"; readonly decision: ToldDecision }
  | { readonly kind: "ended"; readonly end: TargetEnd };

/** News of a target, with the revision that it is about. */
export type TargetEvent = TargetNews & { readonly revision: Revision };

/**
 * A listener to what becomes of targets: called once for each, it returns what hears the events of
 * that one. What it throws at a decision keeps the decision from being carried out; later it must not
 * throw, for what is done is done.
 */
export type TargetListener = (target: ToldTarget) => (event: TargetEvent) => void;
