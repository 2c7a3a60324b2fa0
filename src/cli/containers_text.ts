import type { DeploymentView } from "../api/mod.ts";

/** A stack's containers in a few words, `healthy 2/2, 1 finished`; empty where none is wanted that could run. */
export function containersText(
  { health, running, finished = 0, wanted }: Pick<
    DeploymentView,
    "health" | "running" | "finished" | "wanted"
  >,
): string {
  if (wanted === 0) return health === "finished" ? health : "";
  if (running === undefined) return `${health} ?/${wanted}`;
  if (health === "finished") return `finished ${finished}/${wanted}`;
  const ended = finished === 0 ? "" : `, ${finished} finished`;
  return `${health} ${running}/${wanted - finished}${ended}`;
}
