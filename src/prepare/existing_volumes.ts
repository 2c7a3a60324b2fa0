import {
  fitsTemplate,
  type FollowedPath,
  type FollowedPaths,
  type Resource,
  resourcesOf,
  volumesOf,
} from "../compose/mod.ts";
import { type ComposeModel, isOurs } from "../model/mod.ts";
import type { Host } from "./host.ts";

/** Limit of names with templates, and of the existing volumes with options that all of them fit. */
const MOST_FITTING = 50;

/**
 * Where the existing volumes of a model lead: the engine mounts a volume as it was made, whatever the
 * model says. With `isStack`, names may have templates, which stand for all volumes that fit them.
 * Paths of volumes that we made have `mayBeLive`. Throws what the engine throws.
 */
export async function existingVolumes(
  { engine, sharesFiles }: Pick<Host, "engine" | "sharesFiles">,
  { services, ...model }: ComposeModel,
  signal: AbortSignal,
  { isStack = false }: { readonly isStack?: boolean } = {},
): Promise<Pick<FollowedPaths, "paths" | "refused">> {
  const volumes = sharesFiles ? resourcesOf(model, "volumes") : [];
  const paths: FollowedPath[] = [];
  const refused: string[] = [];
  if (volumes.length === 0) return { paths, refused };
  const isTemplate = ({ name }: Resource) => isStack && name.includes("{{");
  const existing = volumes.some(isTemplate)
    ? await engine.listVolumes({}, signal)
    : await engine.findVolumes(volumes.map(({ name }) => name), signal);
  const led = existing.filter(({ options = {} }) => Object.keys(options).length > 0);
  const byName = new Map(led.map((each) => [each.name, [each]]));
  const tooMany = `volumes with templates in their names, or existing ones with options that fit ` +
    `them: more than ${MOST_FITTING}`;
  if (volumes.filter(isTemplate).length > MOST_FITTING) return { paths, refused: [tooMany] };
  const there = volumes.map((each) => ({
    ...each,
    fits: isTemplate(each)
      ? led.filter(({ name }) => fitsTemplate(each.name, name))
      : byName.get(each.name) ?? [],
  }));
  const fitting = there.filter(isTemplate).reduce((sum, { fits }) => sum + fits.length, 0);
  if (fitting > MOST_FITTING) return { paths, refused: [tooMany] };
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
