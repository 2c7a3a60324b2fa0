import type { ContainerHealth, ContainerState, ObservedContainer } from "../model/mod.ts";

/** State, health and exit code, as the texts of a listed container tell them. */
type ContainerStatus = Pick<ObservedContainer, "state" | "health" | "exitCode">;

const STATES: readonly ContainerState[] = [
  ...(["created", "running", "paused", "restarting", "removing", "exited", "dead"] as const),
];

/**
 * Reads health and exit code out of a list entry, so that a stack is observed with one call:
 * `running` + `Up 3 seconds (healthy)`, `exited` + `Exited (137) 2 hours ago`. A state this program
 * does not know counts as `dead`: it is certainly not running.
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
