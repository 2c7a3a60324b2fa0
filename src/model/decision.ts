import type { ServicePlan, SkipReason } from "./plan.ts";
import type { Origin, Trigger } from "./work.ts";

/** One thing a release is made from that is no longer what it was. */
export interface InputChange {
  /** `configuration`, or a path of the source. */
  readonly input: string;
  /** Digest or object id, or `absent`. */
  readonly from: string;
  readonly to: string;
}

/** Kinds of decisions. */
export const DECISION_KINDS = [
  "skip",
  "deploy",
  "repair",
  "destroy",
  "start",
  "stop",
  "restart",
  "scale",
  "run",
  "error",
] as const;

/** The decision about one stack at one trigger, with everything that led to it. */
export interface TargetDecision {
  /**
   * `rollback` is a person who puts an earlier release back, `project` one who acts on what runs
   * through the routes of projects and stacks, `recovery` a start that finds what an ended process left
   * open, `reconciliation` an event of a container.
   */
  readonly trigger: Trigger | "rollback" | "project" | "recovery" | "reconciliation";
  readonly origin: Origin;
  /** `reference (id)` that was looked at. */
  readonly revision: string;
  /** `repair` puts the deployed release back in order while another one is held back. */
  readonly kind: (typeof DECISION_KINDS)[number];
  readonly reason?: SkipReason;
  readonly message: string;
  /** What differs from the release that is deployed; empty when nothing does. */
  readonly changes: readonly InputChange[];
  readonly services: readonly ServicePlan[];
  /** What became of it, once that is known; a decision to do nothing has none. */
  readonly outcome?: DecisionOutcome;
}

/** The end of an attempt. */
export interface DecisionOutcome {
  readonly status: "succeeded" | "failed";
  readonly message: string;
  /** When a repair that failed is tried again by itself, in ISO 8601. */
  readonly retryAt?: string;
}
