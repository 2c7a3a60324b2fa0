import type { ReleaseService } from "./release.ts";

/** An image with the name under which a release records which one it ran. */
export interface NamedImage {
  /** The service's for its own; for one beside it `web/tool:1`, which no service is called. */
  readonly name: string;
  /** As the model refers to it. */
  readonly image: string;
}

/** The images that a service needs beside its own: of its hooks, and mounted ones. */
export function imagesBeside(
  { name, sideImages = [] }: Pick<ReleaseService, "name" | "sideImages">,
): readonly NamedImage[] {
  return sideImages.map((image) => ({ name: `${name}/${image}`, image }));
}

/** All images that a service needs, its own last. */
export function imagesOf(
  service: Pick<ReleaseService, "name" | "image" | "sideImages">,
): readonly NamedImage[] {
  return [...imagesBeside(service), { name: service.name, image: service.image }];
}
