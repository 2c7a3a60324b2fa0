import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import { currentTasks, imageOf, isWanted, wantedTasks } from "./observed_services.ts";
import type { StackAction, StackOrder } from "./stack_actions.ts";

/** One service of a stack with the numbers of its tasks. */
export interface StackService {
  readonly service: SwarmService;
  readonly image: string;
  /** Wanted tasks; for a global service, the number of nodes that have one. */
  readonly desired: number;
  readonly running: number;
  /** Tasks of a job's last run that ended well. */
  readonly completed: number;
}

/** A person's order for a stack, or for one of its services. */
export interface StackControl {
  readonly order: StackOrder;
  /** Name in the compose file; absent for all services that the order applies to. */
  readonly service?: string;
  /** Whether scaling waits until the tasks run. */
  readonly wait: boolean;
  readonly timeoutSeconds: number;
}

/** Result of an action for one service, which is named as on the engine. */
export interface StackActionResult {
  readonly service: string;
  /** Why the action does not apply; absent when it was done. */
  readonly skipped?: string;
}

/** Past tense of each action, for messages. */
export const PAST: Readonly<Record<StackAction, string>> = {
  scale: "scaled",
  restart: "restarted",
  run: "run",
};

/** A service with its tasks counted. */
export function counted(service: SwarmService, tasks: readonly SwarmTask[]): StackService {
  const current = currentTasks(service, tasks);
  const isGlobal = service.mode.kind === "global" || service.mode.kind === "global-job";
  return {
    service,
    image: imageOf(service),
    desired: isGlobal ? current.filter(isWanted).length : wantedTasks(service),
    running: current.filter((each) => isWanted(each) && each.state === "running").length,
    completed: current.filter(({ state }) => state === "complete").length,
  };
}
