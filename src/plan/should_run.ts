import type { ObservedContainer, ReleaseService } from "../model/mod.ts";

/** Whether a stopped container should run; one that was allowed to end is no drift. */
export function shouldRun(service: ReleaseService, container: ObservedContainer): boolean {
  const { restarts, autostart } = service.expectation;
  if (!autostart) return false;
  if (container.state === "created" || container.state === "paused") return true;
  if (container.state !== "exited" && container.state !== "dead") return false;
  // Code 0 is success where a container may finish. Any other code is a failure, a kill or a host
  // that went down: without a restart policy the engine does not start it again.
  return restarts || container.exitCode !== 0;
}
