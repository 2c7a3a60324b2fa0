import type { Engine } from "../docker/mod.ts";
import {
  errors,
  isStackwrightError,
  type ObservedContainer,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { portTold } from "./engine/taken_port.ts";
import { isDown } from "./left_orphans.ts";

/** Starts all containers that the engine can start; the first refusal of the others. */
export async function startAll(
  engine: Engine,
  containers: readonly ObservedContainer[],
  action: "start" | "restart",
  signal: AbortSignal,
): Promise<StackwrightError | undefined> {
  let refused: StackwrightError | undefined;
  for (const container of containers) {
    try {
      if (action === "restart") await engine.restartContainer(container.id, {}, signal);
      else if (container.state !== "running") await engine.startContainer(container.id, signal);
    } catch (thrown) {
      if (!isStackwrightError(thrown, "engine_refused")) throw thrown;
      const why = portTold(thrown.message);
      // What the engine says otherwise names the container by its id.
      refused ??= errors.engine_refused(`container ${container.name} did not start: ${why}`, {
        cause: thrown,
      });
    }
  }
  return refused;
}

/** The error for a stack of ours of which the engine did not start all. */
export function startedRest({ name }: StackKey, refused: StackwrightError): StackwrightError {
  return errors.engine_refused(
    `${refused.message}; whatever else ${name} has was started, and it is not stopped any more: the next ` +
      "deployment (a poll, or a commit that repairs it) starts what is missing",
    { cause: refused },
  );
}

/** Stops all containers that are not down. */
export async function stopAll(
  engine: Engine,
  containers: readonly ObservedContainer[],
  signal: AbortSignal,
): Promise<void> {
  for (const container of containers) {
    if (isDown(container)) continue;
    await engine.stopContainer(container.id, undefined, signal);
  }
}
