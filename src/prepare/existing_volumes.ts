import { type FollowedPath, type FollowedPaths, resourcesOf, volumesOf } from "../compose/mod.ts";
import { type ComposeModel, isOurs } from "../model/mod.ts";
import type { Host } from "./host.ts";

/**
 * Where the existing volumes of a model lead: the engine mounts a volume as it was made, whatever the
 * model says. Paths of volumes that we made have `mayBeLive`. Throws what the engine throws.
 */
export async function existingVolumes(
  { engine, sharesFiles }: Pick<Host, "engine" | "sharesFiles">,
  { services, ...model }: ComposeModel,
  signal: AbortSignal,
): Promise<Pick<FollowedPaths, "paths" | "refused">> {
  const volumes = sharesFiles ? resourcesOf(model, "volumes") : [];
  const paths: FollowedPath[] = [];
  const refused: string[] = [];
  if (volumes.length === 0) return { paths, refused };
  const existing = await engine.findVolumes(volumes.map(({ name }) => name), signal);
  const byName = new Map(existing.map((each) => [each.name, each]));
  for (const mayBeLive of [true, false]) {
    const made = volumes.flatMap(({ key, name }) => {
      const { options: driver_opts = {}, ...volume } = byName.get(name) ?? { labels: {} };
      const isOfThese = Object.keys(driver_opts).length > 0 && isOurs(volume) === mayBeLive;
      return isOfThese ? [[key, { name, driver_opts }] as const] : [];
    });
    const led: FollowedPath[] = [];
    volumesOf({ services, volumes: Object.fromEntries(made) }, led, refused);
    paths.push(...led.map((each) => ({ ...each, mayBeLive })));
  }
  return { paths, refused };
}
