import type { ContainerHealth, ContainerState, ObservedContainer } from "../model/mod.ts";

/** State, health and exit code in the texts of a listed container. */
type ContainerStatus = Pick<ObservedContainer, "state" | "health" | "exitCode">;

const STATES: readonly ContainerState[] = [
  ...(["created", "running", "paused", "restarting", "removing", "exited", "dead"] as const),
];

/**
 * Reads health and exit code from a list entry, so that one call observes a stack: `running` and
 * `Up 3 seconds (healthy)`, `exited` and `Exited (137) 2 hours ago`. An unknown state counts as
 * `dead`, since it is certainly not running.
 */
export function parseContainerStatus(state: string, status: string): ContainerStatus {
  const known = STATES.find((each) => each === state.toLowerCase()) ?? "dead";
  return { state: known, health: healthOf(status), exitCode: exitCodeOf(status) };
}

function healthOf(status: string): ContainerHealth {
  if (!/^up\b/i.test(status)) return "none";
  if (/\(healthy\)/i.test(status)) return "healthy";
  if (/\(unhealthy\)/i.test(status)) return "unhealthy";
  if (/\(health: starting\)/i.test(status)) return "starting";
  return "none";
}

function exitCodeOf(status: string): number | undefined {
  const code = /^(?:exited|restarting) \((-?\d+)\)/i.exec(status)?.[1];
  return code === undefined ? undefined : Number(code);
}
