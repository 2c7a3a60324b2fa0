import type { ErrorCode } from "./error.ts";
import type { ServicePlan, SkipReason } from "./plan.ts";
import type { Origin, Trigger } from "./work.ts";

/** An input of a release that has changed. */
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
   * `apply`, `retry`: a person asks for a deployment, other than by a poll. `rollback`: a person puts an earlier release back. `project`: a person acts on what runs
   * through the routes of projects and stacks. `recovery`: a start finds intents that an ended
   * process left open. `reconciliation`: an event of a container.
   */
  readonly trigger:
    | Trigger
    | "apply"
    | "retry"
    | "rollback"
    | "project"
    | "recovery"
    | "reconciliation";
  readonly origin: Origin;
  /** `reference (id)` of the revision that was looked at. */
  readonly revision: string;
  /** `repair` repairs the deployed release while a newer one is held back. */
  readonly kind: (typeof DECISION_KINDS)[number];
  readonly reason?: SkipReason;
  /** Code of the error, for the kind `error`. */
  readonly code?: ErrorCode;
  readonly message: string;
  /** Differences from the deployed release; empty when there are none. */
  readonly changes: readonly InputChange[];
  readonly services: readonly ServicePlan[];
  /** How it ended, once known; absent for a decision to do nothing. */
  readonly outcome?: DecisionOutcome;
}

/** The end of an attempt. */
export interface DecisionOutcome {
  /** `skipped` where it was given up before anything was changed. */
  readonly status: "succeeded" | "failed" | "skipped";
  readonly message: string;
  /** Time of the automatic retry of a failed repair, in ISO 8601. */
  readonly retryAt?: string;
}
