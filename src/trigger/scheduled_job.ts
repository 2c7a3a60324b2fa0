import type { LabelledJob } from "../config/mod.ts";

/** A service with the labels of a job. */
export interface ScheduledJob extends LabelledJob {
  /** Name of the source that deployed it; empty where nobody recorded one. */
  readonly source: string;
  /** Id of its container, or of its service in a swarm: one that two contexts tell of is on one engine. */
  readonly id: string;
  readonly isRunning: boolean;
  /** Containers that were made for runs; at the start, an ended process's. */
  readonly executions: readonly string[];
}

/** The name of a job, unlike that of any other job of all contexts. */
export function nameOfJob({ key, service }: Pick<ScheduledJob, "key" | "service">): string {
  return JSON.stringify([key.context, key.name, service]);
}

/** Whether a {@link nameOfJob} is that of a job of a stack; without a stack that of any is. */
export function isJobOf(name: string, stack: string | undefined): boolean {
  return stack === undefined || JSON.parse(name)[1] === stack;
}
