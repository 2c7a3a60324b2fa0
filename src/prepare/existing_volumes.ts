import { objectAt, resourcesOf } from "../compose/mod.ts";
import { type ComposeModel, isOurs } from "../model/mod.ts";
import type { Host } from "./host.ts";

/**
 * The model with the options of those of its volumes that exist and that others made, if there are
 * any: the engine mounts a volume as it was made, whatever the model says. Throws what the engine throws.
 */
export async function withExistingVolumes(
  { engine, sharesFiles }: Pick<Host, "engine" | "sharesFiles">,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<ComposeModel[]> {
  const volumes = sharesFiles ? resourcesOf(model, "volumes") : [];
  if (volumes.length === 0) return [];
  const existing = await engine.findVolumes(volumes.map(({ name }) => name), signal);
  const options = new Map(
    existing.filter((each) => !isOurs(each)).map(({ name, options }) => [name, options]),
  );
  const led = volumes.flatMap(({ key, name, definition }) => {
    const driver_opts = options.get(name);
    return driver_opts === undefined ? [] : [[key, { ...definition, driver_opts }] as const];
  });
  if (led.length === 0) return [];
  return [{ ...model, volumes: { ...objectAt(model, "volumes"), ...Object.fromEntries(led) } }];
}
