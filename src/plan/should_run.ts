import type { ObservedContainer, ReleaseService } from "../model/mod.ts";

/** Whether a container that does not run should; one that ended as it may is no drift. */
export function shouldRun(service: ReleaseService, container: ObservedContainer): boolean {
  const { restarts, autostart } = service.expectation;
  if (!autostart) return false;
  if (container.state === "created" || container.state === "paused") return true;
  if (container.state !== "exited" && container.state !== "dead") return false;
  // What may end has done so with 0. Any other code says that it failed, was killed, or that the
  // host went down: without a restart policy the engine does not start it again.
  return restarts || container.exitCode !== 0;
}
