import { forEachService } from "./along_dependencies.ts";
import { stopAndRemove } from "../compose/act_on_services.ts";
import type { EngineWork } from "./engine_work.ts";
import { attempt, type MadeContainers, removeSurplus, type Successor } from "./make_containers.ts";

/** Replaces old containers by their successors, which get their names. Volumes stay. */
export async function swapContainers(
  work: EngineWork,
  made: MadeContainers,
  signal: AbortSignal,
): Promise<void> {
  await forEachService(work, async (service) => {
    await removeSurplus(work, service, made, signal);
    const mine = made.successors.filter((each) => each.service === service);
    await eachOf(mine, (one) => takePlace(work, one, signal));
  }, signal);
}

/** Runs work for each successor, one after the other. */
export async function eachOf(
  successors: readonly Successor[],
  work: (successor: Successor) => Promise<void>,
): Promise<void> {
  for (const successor of successors) {
    const { service, name } = successor;
    const what = `service ${service}: container ${name} could not be replaced`;
    await attempt(what, () => work(successor));
  }
}

/** Removes the old container of a successor, and gives the successor the final name. */
export async function takePlace(
  { parts: { engine }, tell }: EngineWork,
  { id, name, replaces }: Successor,
  signal: AbortSignal,
): Promise<void> {
  await stopAndRemove(engine, replaces.id, signal);
  await engine.renameContainer(id, name, signal);
  tell(`Container ${name} Recreated`);
}
