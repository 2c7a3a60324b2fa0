import { dependenciesOf, servicesOf } from "../../compose/mod.ts";
import { alongDependencies } from "./along_dependencies.ts";
import type { EngineWork } from "./engine_work.ts";
import { attempt, type MadeContainers, stopAndRemove } from "./make_containers.ts";

/**
 * Lets the containers that were made take the places of those that go: each of these is stopped and
 * removed, and its successor gets the name. Volumes stay.
 */
export async function swapContainers(
  { parts: { engine }, changes, model, tell }: EngineWork,
  { successors, surplus }: MadeContainers,
  signal: AbortSignal,
): Promise<void> {
  await alongDependencies(
    Object.keys(changes.scale),
    (name) => dependenciesOf(servicesOf(model)[name] ?? {}),
    {
      work: async (service) => {
        for (const { id, name } of surplus.filter((each) => each.service === service)) {
          const what = `service ${service}: container ${name} could not be removed`;
          await attempt(what, () => stopAndRemove(engine, id, signal));
          tell(`Container ${name} Removed`);
        }
        for (const { id, name, replaces } of successors) {
          if (replaces.service !== service) continue;
          const what = `service ${service}: container ${name} could not be replaced`;
          await attempt(what, async () => {
            await stopAndRemove(engine, replaces.id, signal);
            await engine.renameContainer(id, name, signal);
          });
          tell(`Container ${name} Recreated`);
        }
      },
      signal,
    },
  );
}
