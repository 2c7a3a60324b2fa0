import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import { currentTasks, imageOf, isWanted, wantedTasks } from "./observed_services.ts";
import type { StackAction, StackOrder } from "./stack_actions.ts";

/** One service of a stack with how many tasks it has. */
export interface StackService {
  readonly service: SwarmService;
  /** The image that its tasks run. */
  readonly image: string;
  /** Tasks that it wants; of a global one, as many as nodes that have one. */
  readonly desired: number;
  readonly running: number;
  /** Tasks of a job's last run that ended well. */
  readonly completed: number;
}

/** An order of a person for a stack, or for one service of it. */
export interface StackControl {
  readonly order: StackOrder;
  /** Name in the compose file; all services that it is for without one. */
  readonly service?: string;
  /** Whether a scale waits until as many tasks run. */
  readonly wait: boolean;
  readonly timeoutSeconds: number;
}

/** End of an action for one service; its name is that on the engine. */
export interface StackActionResult {
  readonly service: string;
  /** Why the action is not for it; absent when it was done. */
  readonly skipped?: string;
}

/** Words of a log for what was done. */
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
