import { type FollowedPath, type FollowedPaths, resourcesOf, volumesOf } from "../compose/mod.ts";
import { volumesThere } from "../deploy/mod.ts";
import { type ComposeModel, isOurs } from "../model/mod.ts";
import type { PlaceParts } from "./our_places.ts";

/** Limit of the existing volumes with options that all names with templates fit. */
const MOST_FITTING = 50;

/**
 * Where the existing volumes of a model lead: the engine mounts a volume as it was made, whatever the
 * model says. With `isStack`, names may have templates, which stand for all volumes that fit them.
 * Paths of volumes that we made have `mayBeLive`. Throws as {@link volumesThere} does.
 */
export async function existingVolumes(
  { engine, isHere }: Pick<PlaceParts["host"], "engine" | "isHere">,
  { services, ...model }: ComposeModel,
  signal: AbortSignal,
  { isStack = false }: { readonly isStack?: boolean } = {},
): Promise<Pick<FollowedPaths, "paths" | "refused">> {
  const declared = resourcesOf(model, "volumes");
  const volumes = declared.length > 0 && await isHere(signal) ? declared : [];
  const paths: FollowedPath[] = [];
  const refused: string[] = [];
  const there = (await volumesThere(engine, volumes, isStack, signal)).map((each) => ({
    ...each,
    fits: each.fits.filter(({ options = {} }) => Object.keys(options).length > 0),
  }));
  const fitting = there.filter(({ isTemplate }) => isTemplate)
    .reduce((sum, { fits }) => sum + fits.length, 0);
  if (fitting > MOST_FITTING) {
    const what = "existing volumes with options that fit names with templates";
    return { paths, refused: [`${what}: more than ${MOST_FITTING}`] };
  }
  const most = Math.max(...there.map(({ fits }) => fits.length));
  for (let at = 0; at < most; at++) {
    for (const mayBeLive of [true, false]) {
      const made = there.flatMap(({ key, fits: { [at]: volume } }) =>
        volume === undefined || isOurs(volume) !== mayBeLive
          ? []
          : [[key, { name: volume.name, driver_opts: volume.options }] as const]
      );
      if (made.length === 0) continue;
      const found: FollowedPath[] = [];
      volumesOf({ services, volumes: Object.fromEntries(made) }, found, refused);
      paths.push(...found.map((each) => ({ ...each, mayBeLive })));
    }
  }
  return { paths, refused };
}
