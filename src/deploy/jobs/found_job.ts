import type { ObservedContainer, StackKey } from "../../model/mod.ts";

/** A service with the label of a job, and its containers on the engine. */
export interface FoundJob {
  readonly key: StackKey;
  readonly service: string;
  /** The container that represents the service: a running one, if any, or that of a run that is left. */
  readonly container: ObservedContainer;
  /** Number of its own containers; 0 where only runs are left, which are taken over to their end. */
  readonly scale: number;
  /** Containers made for a run, including finished ones that nobody removed yet. */
  readonly executions: readonly ObservedContainer[];
  /** Id of the swarm service of a job; its containers are then derived from its tasks. */
  readonly swarm?: string;
}

/** A job as its run needs it: an engine's labels may have megabytes, and runs take any time. */
export function withoutLabels(job: FoundJob): FoundJob {
  return { ...job, container: { ...job.container, labels: {} }, executions: [] };
}
