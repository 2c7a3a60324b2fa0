import { registryOf } from "../deploy/mod.ts";
import { fewOf } from "../model/mod.ts";
import type { Lend } from "../system/mod.ts";
import type { Images } from "./images.ts";
import type { WantedImages } from "./wanted_images.ts";

/** Reports what a stack waits for: how long that takes is up to others. */
function waiting({ progress, services }: WantedImages, what: string): () => void {
  const names = fewOf(services.map(({ name }) => name));
  return () => progress(`waiting for other ${what} before that of ${names}`);
}

/** Images whose pulls, builds and look-ups run through `lend`. */
export function lendingImages(images: Images, lend: Lend): Images {
  const registries = (wanted: WantedImages) =>
    wanted.services.map((each) => registryOf(each.image));
  const builders = ({ key, services }: WantedImages) => services.map(() => `engine ${key.context}`);
  return {
    ...images,
    pull: (wanted, signal) =>
      lend(registries(wanted), () => images.pull(wanted, signal), waiting(wanted, "pulls")),
    build: (wanted, options, signal) =>
      lend(
        builders(wanted),
        () => images.build(wanted, options, signal),
        waiting(wanted, "builds"),
      ),
    distribution: (image, signal) =>
      lend([registryOf(image)], () => images.distribution(image, signal)),
  };
}
