import type { SwarmService } from "../../docker/swarm.ts";
import type { ObservedContainer, StackKey } from "../../model/mod.ts";

/** A service with the label of a job, and what there is of it on the engine. */
export interface FoundJob {
  readonly key: StackKey;
  readonly service: string;
  /** The container that stands for it: one that runs, if any does. */
  readonly container: ObservedContainer;
  /** Number of containers that the service has. */
  readonly scale: number;
  /** Containers that were made for a run; also those that ended while nobody was there to put them away. */
  readonly executions: readonly ObservedContainer[];
  /** The service of a job in a swarm; its containers are then what its tasks come to. */
  readonly swarm?: SwarmService;
}
