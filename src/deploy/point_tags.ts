import type { Engine } from "../docker/engine.ts";
import { buildersOf } from "../compose/mod.ts";
import {
  type Imaged,
  imagesBeside,
  imagesOf,
  type NamedImage,
  own,
  type Release,
} from "../model/mod.ts";

/**
 * Points the tags in services' definitions at the images that the services ran: a pull or build may
 * have moved the tags since. Images that are gone are left to be pulled.
 */
export async function pointTags(
  engine: Engine,
  services: readonly Imaged[],
  images: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  // Services come last: if a hook uses the same tag, the service's image decides.
  for (const { name, image: reference } of [...services.flatMap(imagesBeside), ...services]) {
    const image = own(images, name);
    if (image === undefined || reference === "" || reference.includes("@")) continue;
    if (await engine.imageId(reference, signal) === image) continue;
    if (await engine.imageId(image, signal) === undefined) continue;
    await engine.tagImage(image, reference, signal);
  }
}

/**
 * Those of a release's images to whose ids its names may be pointed: what it builds, and names that lead nowhere.
 * Any other name is its owner's, who may have given it to a newer image, for a commit or stack to come; containers
 * are made by id.
 */
export async function imagesToPoint(
  engine: Pick<Engine, "imageId">,
  { model, services }: Pick<Release, "model" | "services">,
  images: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const pointed = { ...images };
  for (const { name, image } of imagesFetched({ model, services })) {
    if (own(images, name) === undefined) continue;
    if (await engine.imageId(image, signal) !== undefined) delete pointed[name];
  }
  return pointed;
}

/** The images of services, their own and those beside it, that registries have: the release builds none. */
export function imagesFetched(
  { model, services }: Pick<Release, "model" | "services">,
): NamedImage[] {
  const builders = buildersOf(model);
  return services.flatMap((service) =>
    imagesOf(service).filter(({ name, image }) =>
      image !== "" && !(name === service.name && service.builds) &&
      builders(service.name, image).length === 0
    )
  );
}

/** The images of services, their own and those beside it, that are still on the engine. */
export async function imagesPresent(
  engine: Pick<Engine, "imageId">,
  services: readonly Imaged[],
  images: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const present: Record<string, string> = {};
  for (const { name } of services.flatMap(imagesOf)) {
    const id = own(images, name);
    if (id !== undefined && await engine.imageId(id, signal) !== undefined) present[name] = id;
  }
  return present;
}
