import type { StackKey } from "./stack_key.ts";

/** A run of a job as whoever takes it over needs it, where no label tells. */
export interface NotedRun {
  /** Id of the container or service that it runs in. */
  readonly id: string;
  /** What the run stops, as its engine names it. */
  readonly stops: readonly unknown[];
  /** Whether the job may have been started. */
  readonly mayRun: boolean;
  /** Whether it has ended, and only what it had stopped could not be started again; false by default. */
  readonly isOver?: boolean;
  /** Whether that container or service was made for the run alone; false by default. */
  readonly isOwn?: boolean;
  /** What it stops, as it was ordered; older versions did not note that. */
  readonly stopServices?: readonly { readonly project: string; readonly service: string }[];
}

/** What is noted of a job's run, and of which job. */
export type NotedJob = NotedRun & { readonly key: StackKey; readonly service: string };
