import { pullsAlways, pullsNever } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import type { PresentImages } from "./short_list.ts";
import type { Target } from "./target.ts";
import {
  imagesOf,
  type NamedImage,
  own,
  type Plan,
  type Release,
  type ReleaseService,
} from "../model/mod.ts";

/** Image ids by the names of {@link NamedImage}. */
export type ImageIds = Readonly<Record<string, string>>;

/** ImageIds of images that a plan uses although names may lead to other ones by now. */
interface Earlier {
  /** Those that were just pulled since their names may have moved. */
  readonly pulled?: ImageIds;
  /** Those of the containers that run. */
  readonly running: ImageIds;
  /** Those that the deployed release ran, where it is the one to deploy; none otherwise. */
  readonly deployed?: ImageIds;
}

/**
 * ImageIds that a plan knows of services' images before it looks at names: what was pulled for it; what the others
 * run, for more replicas; and for a container that is missing of the deployed release, what that ran.
 */
export function earlierImages(
  plan: Pick<Plan, "services">,
  services: Release["services"],
  { pulled = {}, running, deployed = {} }: Earlier,
): ImageIds {
  const actions = new Map(plan.services.map(({ name, action }) => [name, action]));
  const found: Record<string, string> = {};
  for (const service of services) {
    const action = actions.get(service.name);
    for (const { name } of imagesOf(service)) {
      const stays = action === "scale" || action === "start" ? own(running, name) : undefined;
      const again = stays ?? (action === "recreate" ? undefined : own(deployed, name));
      const id = own(pulled, name) ?? again;
      if (id !== undefined) found[name] = id;
    }
  }
  return found;
}

/**
 * The ids that are on the engine: those that are `known`, those that names had when they were looked up, and
 * else those that names have now.
 */
export async function knownImages(
  engine: Pick<Engine, "imageId">,
  images: readonly NamedImage[],
  { known, present }: { readonly known: ImageIds; readonly present?: PresentImages },
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const { name, image } of images) {
    const id = own(known, name) ?? present?.get(image)?.id ?? await engine.imageId(image, signal);
    if (id !== undefined) ids[name] = id;
  }
  return ids;
}

/** An engine that has no images of these names. */
export function withoutNames(
  names: readonly string[],
  engine: Pick<Engine, "imageId" | "imageLabels">,
): Pick<Engine, "imageId" | "imageLabels"> {
  return {
    imageId: async (name, signal) =>
      names.includes(name) ? undefined : await engine.imageId(name, signal),
    imageLabels: (id, signal) => engine.imageLabels(id, signal),
  };
}

/** Whether a service's images are pulled with each release, as their tags may have moved. */
export function isPulledAgain(
  { deployment: { forceImagePull } }: Target,
  release: Release,
  { name }: Pick<ReleaseService, "name">,
): boolean {
  return pullsAlways(release, name) || (forceImagePull && !pullsNever(release, name));
}
