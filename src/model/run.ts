import type { ServicePlan, SkipReason } from "./plan.ts";
import type { Trigger } from "./work.ts";

/** States of a run. The last three are final. */
export const RUN_STATUSES = ["accepted", "running", "succeeded", "failed", "skipped"] as const;

/** One member of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One stack in one context that a run was about. */
export interface RunTarget {
  readonly context: string;
  readonly stack: string;
  readonly status: "pending" | "running" | "succeeded" | "failed" | "skipped";
  readonly reason?: SkipReason;
  /** Time at which an automatic attempt may happen again. */
  readonly retryAt?: Date;
  /** What became of it; until it has a final state, what is being done. */
  readonly message?: string;
  /** `reference (id)` that was looked at. */
  readonly revision?: string;
  /** What was decided for each service, and why. */
  readonly services?: readonly ServicePlan[];
}

/** One tracked run, as a value: a change makes a new one. */
export interface Run {
  /** UUIDv7; shown as `job_id`. */
  readonly id: string;
  readonly trigger: Trigger;
  readonly status: RunStatus;
  /** Source name, `multiple`, `scheduled:` with the name of a job, or empty while unknown. */
  readonly repository: string;
  /** Source that the stack of a job is of, where that is known; it is not shown. */
  readonly owner?: string;
  readonly target: string;
  readonly revision: string;
  readonly message: string;
  readonly targets: readonly RunTarget[];
  readonly createdAt: Date;
  readonly startedAt?: Date;
  readonly finishedAt?: Date;
  readonly updatedAt: Date;
}

/** True when `status` is final. */
export function isTerminal(status: RunStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "skipped";
}

/**
 * Is told what is being done at this moment, as a few words for people who wait (`pulling web`). May be
 * told the same several times.
 */
export type Progress = (step: string) => void;

/** The reporter that the work behind a run tells what goes on. */
export interface RunReporter {
  /** Fills in what is known now; what is left out stays. `message` is what is being done. */
  describe(
    facts: {
      readonly repository?: string;
      readonly owner?: string;
      readonly target?: string;
      readonly revision?: string;
      readonly message?: string;
    },
  ): void;
  /** Adds the target, or replaces the entry of the same context and stack. */
  target(entry: RunTarget): void;
}
