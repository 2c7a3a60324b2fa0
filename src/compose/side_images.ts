import { objectsAt, servicesOf, textAt } from "./model.ts";
import type { ComposeModel, ReleaseService } from "../model/mod.ts";

/** An image that a service needs besides its own. */
export interface SideImage {
  readonly service: string;
  readonly image: string;
  /** `hook` for a container that runs before the service starts; `volume` for mounted files. */
  readonly use: "hook" | "volume";
}

/** The images that `services` need besides their own, each once. */
export function sideImages(
  model: ComposeModel,
  services: readonly Pick<ReleaseService, "name" | "image">[],
): readonly SideImage[] {
  const definitions = servicesOf(model);
  const all = services.flatMap(({ name: service, image: own }) => {
    const definition = definitions[service] ?? {};
    const hooks = objectsAt(definition, "pre_start")
      .map((each) => ({ service, image: textAt(each, "image"), use: "hook" as const }));
    const volumes = objectsAt(definition, "volumes")
      .filter((each) => textAt(each, "type") === "image")
      .map((each) => ({ service, image: textAt(each, "source"), use: "volume" as const }));
    return [...hooks, ...volumes].filter(({ image }) => image !== "" && image !== own);
  });
  return [...Map.groupBy(all, ({ image }) => image).values()].flatMap(([first]) => first ?? []);
}

/** A model with services for these images only, because compose only pulls images of services. */
export function modelOfImages(images: readonly SideImage[]): {
  readonly model: ComposeModel;
  readonly services: readonly Pick<ReleaseService, "name" | "image">[];
} {
  const services = images.map(({ service, image, use }, index) => ({
    name: `${service}.${use}.${index}`,
    image,
  }));
  return {
    model: { services: Object.fromEntries(services.map(({ name, image }) => [name, { image }])) },
    services,
  };
}
