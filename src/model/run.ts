import type { ServicePlan, SkipReason } from "./plan.ts";
import type { Trigger } from "./work.ts";

/** States of a run. The last three are final. */
export const RUN_STATUSES = ["accepted", "running", "succeeded", "failed", "skipped"] as const;

/** One member of {@link RUN_STATUSES}. */
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One stack that a run is about. */
export interface RunTarget {
  readonly context: string;
  readonly stack: string;
  readonly status: "pending" | "running" | "succeeded" | "failed" | "skipped";
  readonly reason?: SkipReason;
  /** Time of the next automatic attempt. */
  readonly retryAt?: Date;
  /** How it ended; until then, the step under way. */
  readonly message?: string;
  /** `reference (id)` of the revision that was looked at. */
  readonly revision?: string;
  readonly services?: readonly ServicePlan[];
  /** Set where the stack is another poll's, so that this one was refused it. */
  readonly isOthers?: boolean;
}

/** One tracked run, as a value: a change makes a new one. */
export interface Run {
  /** UUIDv7; shown as `job_id`. */
  readonly id: string;
  readonly trigger: Trigger;
  readonly status: RunStatus;
  /** Source name, `multiple`, `scheduled:` with the name of a job, or empty while unknown. */
  readonly repository: string;
  /** Source that owns the stack of a job, if known; not shown. */
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

/** The beginning of the step that says that another process is changing the stack. */
export const WAITS_FOR_PROCESS = "waiting for process";
/** The beginning of the step that says that jobs of the stack run. */
export const WAITS_FOR_JOBS = "waiting for running jobs";

/** Receives the step under way in a few words (`pulling web`); may get the same words again. */
export type Progress = (step: string) => void;

/** Facts about a run besides its targets; absent ones stay as they are. */
export interface RunFacts {
  /** Source name, or `multiple`. */
  readonly repository?: string;
  /** Source that owns the stack of a job. */
  readonly owner?: string;
  readonly target?: string;
  /** `reference (id)`. */
  readonly revision?: string;
  /** The step under way. */
  readonly message?: string;
}

/** The end of a run as a whole. */
export interface RunEnd {
  readonly status: "succeeded" | "failed" | "skipped";
  readonly message: string;
}

/** Receives what becomes of a run from the work behind it. */
export interface RunReporter {
  /** Sets the given facts and keeps the others. */
  describe(facts: RunFacts): void;
  /** Adds a target, or replaces its entry; its texts are about `sources` as well. */
  target(entry: RunTarget, sources?: readonly string[]): void;
  /** Says that the rest of the run may take as long as others want: the next run of its kind need not wait for it. */
  givesWay?(): void;
  /** Says that it does what another run was to do as well: it goes on, also when the client that waited for it leaves. */
  readonly takesOver?: () => void;
}
